package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics"
)

// Text is the gate as a gate file, in one line. ParseGate reads it.
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
	for _, l := range DefaultGate().Limits {
		if own := g.limit(l.Number.Name); own == nil || !own.usual {
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

// ParseGate reads the text of a gate file: the usual gate, with what the text changes.
func ParseGate(text string) (Gate, error) {
	gate := DefaultGate()
	err := yaml.Unmarshal([]byte(text), &gate)
	return gate, err
}

// ruled are the metrics that the rule of a run gates and numbers.All lacks.
func ruled(s *metrics.Summary) []metrics.Number {
	if s.Header.Rule == nil {
		return nil
	}
	gate, err := ParseGate(s.Header.Rule.Gate)
	if err != nil {
		return nil // Recorded says so
	}
	return gate.Extra()
}

// Recorded is the rule of the sequential sweep that made the runs, with its gate. It is nil, with the
// usual gate, unless all runs have one. Of several rules, such as of a sweep that went on
// despite another doubt, the one of the newest run counts, and notes say so.
func Recorded(runs []*Run) (rule *metrics.Rule, gate Gate, notes []string, err error) {
	var newest *Run
	var texts []string
	for _, r := range runs {
		if r.measured.sum == nil || r.measured.sum.Header.Rule == nil {
			return nil, DefaultGate(), nil, nil
		}
		texts = append(texts, r.measured.sum.Header.Rule.Gate)
		if newest == nil || r.Began.After(newest.Began) {
			newest = r
		}
	}
	if newest == nil {
		return nil, DefaultGate(), nil, nil
	}
	rule = newest.measured.sum.Header.Rule
	if gate, err = ParseGate(rule.Gate); err != nil {
		return nil, DefaultGate(), nil, fmt.Errorf("run %s: the rule in its record stream: %w", newest.ID, err)
	}
	if rule.Instead != "" {
		notes = append(notes, Overruled(rule.Instead))
	}
	if len(metrics.Distinct(texts)) > 1 {
		notes = append(notes, "the runs recorded several rules: the one of the newest run counts, "+rule.Gate)
	}
	return rule, gate, notes, nil
}

// Overruled says that a reader's own flags are in force where a sweep has recorded a gate.
func Overruled(recorded string) string {
	return "the flags of the gate given here change the rule that the sweep recorded, which is " + recorded
}
