package gating

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Text is the gate as a gate file, in one line. Parse reads it.
func (g *Gate) Text() string {
	file := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	add := func(key string, shape yaml.Kind, items ...string) {
		if len(items) == 0 {
			return
		}
		value := &yaml.Node{Kind: shape}
		for _, item := range items {
			value.Content = append(value.Content, scalar(item))
		}
		if shape == yaml.ScalarNode {
			value = scalar(items[0])
		}
		file.Content = append(file.Content, scalar(key), value)
	}
	var advisory, margins, ceilings, floors []string
	for _, l := range Default().Limits {
		if own := g.Limit(l.Number.Name); own == nil || !own.usual {
			advisory = append(advisory, l.Number.Name)
		}
	}
	for _, l := range g.Limits {
		if !l.usual {
			margins = append(margins, l.Number.Name, l.text())
		}
	}
	for _, b := range g.Bounds {
		if !math.IsInf(b.Most, 1) {
			ceilings = append(ceilings, b.Number.Name, number(b.Most))
		}
		if !math.IsInf(b.Least, -1) {
			floors = append(floors, b.Number.Name, number(b.Least))
		}
	}
	add("advisory", yaml.SequenceNode, advisory...) // first: a margin gates a number again
	add("margin", yaml.MappingNode, margins...)
	add("ceiling", yaml.MappingNode, ceilings...)
	add("floor", yaml.MappingNode, floors...)
	if g.Alpha != 0 {
		add("alpha", yaml.ScalarNode, number(g.Alpha))
	}
	if g.Unit != "" {
		add("unit", yaml.ScalarNode, string(g.Unit))
	}
	if g.Allowed != 0 {
		add("allowed-failures", yaml.ScalarNode, percentage(g.Allowed))
	}
	add("despite", yaml.SequenceNode, g.Despite...)
	text, err := yaml.Marshal(file)
	if err != nil {
		panic(err) // the nodes are made here
	}
	return strings.TrimSpace(string(text))
}

func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// percentage is a share that reads back as the same.
func percentage(share float64) string {
	text := strconv.FormatFloat(100*share, 'g', 15, 64)
	if v, err := strconv.ParseFloat(text, 64); err != nil || v/100 != share {
		text = number(100 * share)
	}
	return text + "%"
}

// text is the margin as in a gate file.
func (l *Margin) text() string {
	switch {
	case l.Absolute == 0:
		return percentage(l.Relative)
	case l.Relative == 0:
		return number(l.Absolute) + string(l.Number.Unit)
	}
	return percentage(l.Relative) + "," + number(l.Absolute) + string(l.Number.Unit)
}

// Parse reads the text of a gate file: the usual gate, with what the text changes.
func Parse(text string) (Gate, error) {
	gate := Default()
	err := yaml.Unmarshal([]byte(text), &gate)
	return gate, err
}
