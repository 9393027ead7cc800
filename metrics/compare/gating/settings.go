package gating

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// A Setting is one setting of a Gate: a key of a gate file, and a flag of the same name.
type Setting struct {
	Name string
	Help string // of the flag, with the name of its value in backquotes

	// Set applies a value of the flag to the gate.
	Set func(g *Gate, value string) error

	shape yaml.Kind // in the file: a mapping of METRIC: VALUE, a list or one value
}

// Settings are all settings of a Gate.
var Settings = []Setting{
	{"margin", "`METRIC=MARGIN` gate this number, as median_ttft=5% or p99_itl=10%,2ms. A change within the margin " +
		"does not count", setMargin, yaml.MappingNode},
	{"advisory", "`METRIC` do not gate this number", setAdvisory, yaml.SequenceNode},
	{"ceiling", "`METRIC=VALUE` largest median that new runs may have, as p99_ttft=200", setCeiling, yaml.MappingNode},
	{"floor", "`METRIC=VALUE` smallest median that new runs may have, as output_throughput=1000", setFloor,
		yaml.MappingNode},
	{"alpha", "`P` chance of a false alarm over all gated numbers (default 0.05)", setAlpha, yaml.ScalarNode},
	{"unit", "`UNIT` what counts as one piece of evidence: start (of a server, the default) or run. With run the " +
		"verdict is about the processes that ran only", setUnit, yaml.ScalarNode},
	{"allowed-failures", "`SHARE` share of a run's requests that may fail, as 1% (default 0%)", setAllowed,
		yaml.ScalarNode},
	{"despite", "`NAMES` compare although the sides differ in these, as model,client or another flag of run. suspect " +
		"also judges runs that are SUSPECT", setDespite, yaml.SequenceNode},
}

// UnmarshalYAML changes the gate as a gate file says, whose keys are the names of Settings. Errors
// begin with the line.
func (g *Gate) UnmarshalYAML(node *yaml.Node) error {
	if err := node.Decode(new(any)); err != nil { // a duplicate key, and an alias inside its own anchor
		return err
	}
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: it must be a mapping with the keys %s", node.Line, settingNames())
	}
	for entry := range slices.Chunk(node.Content, 2) {
		key := entry[0]
		i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Name == key.Value })
		if i < 0 {
			return fmt.Errorf("line %d: %s: there is no such key; the keys are %s", key.Line, key.Value, settingNames())
		}
		if line, err := Settings[i].take(g, entry[1]); err != nil {
			return fmt.Errorf("line %d: %s: %w", line, key.Value, err)
		}
	}
	return nil
}

func settingNames() string {
	var names []string
	for _, s := range Settings {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// take sets the value of a key. The line says where an error is.
func (s *Setting) take(g *Gate, node *yaml.Node) (line int, err error) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind != s.shape {
		shapes := map[yaml.Kind]string{yaml.MappingNode: "a mapping from numbers to values", yaml.SequenceNode: "a list",
			yaml.ScalarNode: "one value"}
		return node.Line, fmt.Errorf("it must be %s", shapes[s.shape])
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
		if err := s.Set(g, value); err != nil {
			return item.Line, fmt.Errorf("%s: %w", value, err)
		}
	}
	return 0, nil
}

func setMargin(g *Gate, text string) error {
	m, value, err := ofMetric(text, "median_ttft=5%")
	if err != nil {
		return err
	}
	limit := Margin{Number: m}
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); strings.HasSuffix(part, "%") {
			limit.Relative, err = ParseShare(part)
		} else if limit.Absolute, err = inUnit(part, m.Unit); err == nil &&
			(limit.Absolute < 0 || !strings.HasSuffix(part, string(m.Unit))) {
			err = errors.New("no unit, or below 0")
		}
		if err != nil {
			return fmt.Errorf("a margin must be a share such as 5%%, or an amount such as 2%s, or both with a comma", m.Unit)
		}
	}
	g.Limits = append(ungated(g, m), limit)
	return nil
}

func setAdvisory(g *Gate, name string) error {
	m, err := findMetric(name)
	if err == nil {
		g.Limits = ungated(g, m)
	}
	return err
}

// ungated are the limits without the metric's.
func ungated(g *Gate, m metrics.Number) []Margin {
	return slices.DeleteFunc(slices.Clone(g.Limits), func(l Margin) bool { return l.Number.Name == m.Name })
}

func setCeiling(g *Gate, text string) error { return setBound(g, text, false) }

func setFloor(g *Gate, text string) error { return setBound(g, text, true) }

func setBound(g *Gate, text string, floor bool) error {
	m, value, err := ofMetric(text, "p99_ttft=200")
	if err != nil {
		return err
	}
	v, err := inUnit(value, m.Unit)
	if err != nil {
		return fmt.Errorf("it must be a number, in %s", m.Unit)
	}
	i := slices.IndexFunc(g.Bounds, func(b Bound) bool { return b.Number.Name == m.Name })
	if i < 0 {
		i = len(g.Bounds)
		g.Bounds = append(g.Bounds, Bound{Number: m, Least: math.Inf(-1), Most: math.Inf(1)})
	}
	if floor {
		g.Bounds[i].Least = v
	} else {
		g.Bounds[i].Most = v
	}
	return nil
}

func setAlpha(g *Gate, text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v < 0.5) {
		return errors.New("it must be above 0 and below 0.5")
	}
	g.Alpha = v
	return nil
}

func setUnit(g *Gate, text string) error {
	if g.Unit = Unit(text); g.Unit != PerStart && g.Unit != PerRun {
		return errors.New("it must be start or run")
	}
	return nil
}

func setAllowed(g *Gate, text string) (err error) {
	g.Allowed, err = ParseShare(text)
	if err != nil || g.Allowed >= 1 {
		return errors.New("it must be a share of the requests below 100%, such as 1%")
	}
	return nil
}

func setDespite(g *Gate, names string) error {
	for name := range strings.SplitSeq(names, ",") {
		name = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "--"), "_", "-")
		if name == "" {
			return errors.New("it must be names, separated by commas")
		}
		if !slices.Contains(g.Despite, name) {
			g.Despite = append(g.Despite, name)
		}
	}
	return nil
}

// ofMetric splits METRIC=VALUE; the example is for an error.
func ofMetric(text, example string) (m metrics.Number, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return m, "", errors.New("it must be METRIC=VALUE, such as " + example)
	}
	m, err = findMetric(name)
	return m, strings.TrimSpace(value), err
}

func findMetric(name string) (metrics.Number, error) {
	m, ok := numbers.Find(name)
	if !ok {
		var names []string
		for _, m := range numbers.All() {
			names = append(names, m.Name)
		}
		return m, fmt.Errorf("no metric is called %q: there are %s, and any percentile, such as p95_ttft", name,
			strings.Join(names, ", "))
	}
	return m, nil
}

// ParseShare reads a percentage of 0 or more.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !percent || !(v >= 0) || math.IsInf(v, 1) {
		return 0, errors.New("it must be a share, such as 5%")
	}
	return v / 100, nil
}

// inUnit reads a number that its unit may follow.
func inUnit(text string, unit metrics.Unit) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, string(unit))), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = errors.New("it must be finite")
	}
	return v, err
}
