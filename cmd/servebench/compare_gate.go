package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics/compare"
)

// A gateKey is a key of a gate file and a flag of the same name.
type gateKey struct {
	name, help string
	shape      yaml.Kind // in the file: a mapping of METRIC: VALUE, a list or one value
	set        func(g *compare.Gate, value string) error
}

// gateKeys are all that there are.
var gateKeys = []gateKey{
	{"margin", "gate a number: `METRIC=MARGIN`, as median_ttft=5%, p99_itl=10%,2ms; what is within does not matter", yaml.MappingNode, setMargin},
	{"advisory", "do not gate this `METRIC`", yaml.SequenceNode, setAdvisory},
	{"ceiling", "the most that a median of new runs may be: `METRIC=VALUE`, as p99_ttft=200", yaml.MappingNode, setCeiling},
	{"floor", "the least: `METRIC=VALUE`", yaml.MappingNode, setFloor},
	{"alpha", "chance of a false alarm over all that is gated, `P` (default 0.05)", yaml.ScalarNode, setAlpha},
	{"allowed-failures", "`SHARE` of a run's requests that may fail, as 1% (default 0%)", yaml.ScalarNode, setAllowed},
	{"despite", "compare though the sides differ in this `NAME`, as model, client or a flag; or though runs are suspect", yaml.SequenceNode, setDespite},
}

// A gateSetting is a gateKey with a value of the command line.
type gateSetting struct {
	gateKey
	value string
}

// readGate is the default gate with what the file and then the flags say.
func (c *compareCommand) readGate() (compare.Gate, error) {
	gate := compare.DefaultGate()
	if c.gateFile != "" {
		f, err := os.Open(c.gateFile)
		if err != nil {
			return gate, fmt.Errorf("--gate: %w", err)
		}
		defer f.Close()
		if err := parseGate(&gate, c.gateFile, f); err != nil {
			return gate, err
		}
	}
	for _, s := range c.settings {
		if err := s.set(&gate, s.value); err != nil {
			return gate, fmt.Errorf("--%s %s: %w", s.name, s.value, err)
		}
	}
	return gate, nil
}

// parseGate sets what a file says. Errors name the file and the line.
func parseGate(gate *compare.Gate, name string, r io.Reader) error {
	root, err := argv.ReadYAML(name, r)
	switch {
	case err != nil:
		return err
	case root == nil:
		return fmt.Errorf("%s: it is empty", name)
	}
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: it must be a mapping with the keys %s", name, root.Line, gateKeyNames())
	}
	for entry := range slices.Chunk(root.Content, 2) {
		i := slices.IndexFunc(gateKeys, func(k gateKey) bool { return k.name == entry[0].Value })
		if i < 0 {
			return fmt.Errorf("%s:%d: %s: there is no such key; there are %s", name, entry[0].Line, entry[0].Value, gateKeyNames())
		}
		if line, err := gateKeys[i].take(gate, entry[1]); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", name, line, gateKeys[i].name, err)
		}
	}
	return nil
}

func gateKeyNames() string {
	var names []string
	for _, k := range gateKeys {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

// take sets the value of a key; the line is that of what is wrong.
func (k *gateKey) take(gate *compare.Gate, node *yaml.Node) (line int, err error) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind != k.shape {
		shapes := map[yaml.Kind]string{yaml.MappingNode: "a mapping from numbers to values", yaml.SequenceNode: "a list", yaml.ScalarNode: "one value"}
		return node.Line, fmt.Errorf("it must be %s", shapes[k.shape])
	}
	items := node.Content
	if node.Kind == yaml.ScalarNode {
		items = []*yaml.Node{node}
	}
	for i := 0; i < len(items); i++ {
		item, value := items[i], items[i].Value
		if node.Kind == yaml.MappingNode {
			i++
			value += "=" + items[i].Value
		}
		if err := k.set(gate, value); err != nil {
			return item.Line, fmt.Errorf("%s: %w", value, err)
		}
	}
	return 0, nil
}

func setMargin(g *compare.Gate, text string) error {
	m, value, err := ofMetric(text)
	if err != nil {
		return err
	}
	limit := compare.Limit{Metric: m}
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); strings.HasSuffix(part, "%") {
			limit.Relative, err = share(part)
		} else if limit.Absolute, err = inUnit(part, m.Unit); err == nil && (limit.Absolute < 0 || !strings.HasSuffix(part, m.Unit)) {
			err = errors.New("no unit, or below 0")
		}
		if err != nil {
			return fmt.Errorf("a margin must be a share, as 5%%, or an amount, as 2%s, or both with a comma", m.Unit)
		}
	}
	g.Limits = append(ungated(g, m), limit)
	return nil
}

func setAdvisory(g *compare.Gate, name string) error {
	m, err := findMetric(name)
	if err == nil {
		g.Limits = ungated(g, m)
	}
	return err
}

// ungated are the limits without the metric's.
func ungated(g *compare.Gate, m compare.Metric) []compare.Limit {
	return slices.DeleteFunc(slices.Clone(g.Limits), func(l compare.Limit) bool { return l.Metric.Name == m.Name })
}

func setCeiling(g *compare.Gate, text string) error { return setBound(g, text, false) }

func setFloor(g *compare.Gate, text string) error { return setBound(g, text, true) }

func setBound(g *compare.Gate, text string, floor bool) error {
	m, value, err := ofMetric(text)
	if err != nil {
		return err
	}
	v, err := inUnit(value, m.Unit)
	if err != nil {
		return fmt.Errorf("it must be a number, in %s", m.Unit)
	}
	i := slices.IndexFunc(g.Bounds, func(b compare.Bound) bool { return b.Metric.Name == m.Name })
	if i < 0 {
		i = len(g.Bounds)
		g.Bounds = append(g.Bounds, compare.Bound{Metric: m, Least: math.Inf(-1), Most: math.Inf(1)})
	}
	if floor {
		g.Bounds[i].Least = v
	} else {
		g.Bounds[i].Most = v
	}
	return nil
}

func setAlpha(g *compare.Gate, text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v < 0.5) {
		return errors.New("it must be above 0 and below 0.5")
	}
	g.Alpha = v
	return nil
}

func setAllowed(g *compare.Gate, text string) (err error) {
	g.Allowed, err = share(text)
	if err != nil || g.Allowed >= 1 {
		return errors.New("it must be a share of the requests, as 1%, below 100%")
	}
	return nil
}

func setDespite(g *compare.Gate, name string) error {
	g.Despite = append(g.Despite, name)
	return nil
}

// ofMetric takes METRIC=VALUE apart.
func ofMetric(text string) (m compare.Metric, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return m, "", errors.New("it must be METRIC=VALUE")
	}
	m, err = findMetric(name)
	return m, strings.TrimSpace(value), err
}

func findMetric(name string) (compare.Metric, error) {
	m, ok := compare.Find(name)
	if !ok {
		var names []string
		for _, m := range compare.Metrics {
			names = append(names, m.Name)
		}
		return m, fmt.Errorf("no number is called %q: there are %s, and any percentile, as p95_ttft", name, strings.Join(names, ", "))
	}
	return m, nil
}

// share reads a percentage of 0 or more.
func share(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !percent || !(v >= 0) || math.IsInf(v, 1) {
		return 0, errors.New("it must be a share, as 5%")
	}
	return v / 100, nil
}

// inUnit reads a number that its unit may follow.
func inUnit(text, unit string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, unit)), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = errors.New("it must be finite")
	}
	return v, err
}
