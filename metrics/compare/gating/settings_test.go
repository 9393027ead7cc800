package gating

import (
	"math"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics/compare/numbers"
)

func TestGateFileSetsWhatItSays(t *testing.T) {
	gate := Default()
	err := yaml.Unmarshal([]byte(`
margin: {median_ttft: "10%, 2ms", p95_itl: 0%}
advisory: [median_tpot]
ceiling: {p99_ttft: 200, output_throughput: 9}
floor: {output_throughput: 1 tok/s}
alpha: 0.01
allowed-failures: 1%
despite: [client, suspect]
`), &gate)
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string][2]float64{"output_throughput": {0.05, 0}, "median_ttft": {0.1, 2}, "p95_itl": {0, 0}}
	for _, l := range gate.Limits {
		if want, ok := limits[l.Number.Name]; !ok || want != [2]float64{l.Relative, l.Absolute} {
			t.Errorf("%s: %v, %v", l.Number.Name, l.Relative, l.Absolute)
		}
	}
	bounds := map[string][2]float64{"p99_ttft": {math.Inf(-1), 200}, "output_throughput": {1, 9}}
	for _, b := range gate.Bounds {
		if want, ok := bounds[b.Number.Name]; !ok || want != [2]float64{b.Least, b.Most} {
			t.Errorf("%s: %v to %v", b.Number.Name, b.Least, b.Most)
		}
	}
	if len(gate.Limits) != 3 || len(gate.Bounds) != 2 || gate.Alpha != 0.01 || gate.Allowed != 0.01 || strings.Join(gate.Despite, " ") != "client suspect" {
		t.Errorf("%+v", gate)
	}
}

func TestGateFileErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"- a":                            "line 1: it must be a mapping with the keys margin, advisory, ",
		"alpha: 0.1\nbeta: 1":            "line 2: beta: there is no such key; the keys are margin, ",
		"alpha: 0.1\nalpha: 0.2":         "yaml: unmarshal errors:\n  line 2: ",
		"alpha: [0.1]":                   "line 1: alpha: it must be one value",
		"alpha: 0.7":                     "line 1: alpha: 0.7: it must be above 0 and below 0.5",
		"alpha: .nan":                    "line 1: alpha: .nan: it must be",
		"margin: 5%":                     "line 1: margin: it must be a mapping",
		"margin:\n  ttft: 5%":            "line 2: margin: ttft=5%: no metric is called \"ttft\"",
		"margin:\n  median_ttft: -5%":    "line 2: margin: median_ttft=-5%: a margin must be a share such as 5%, or an amount such as 2ms",
		"margin:\n  median_ttft: 5":      "line 2: margin: median_ttft=5: a margin must be",
		"margin:\n  median_ttft: -5ms":   "line 2: margin: median_ttft=-5ms: a margin must be",
		"margin:\n  median_ttft: [5%]":   "line 2: margin: median_ttft=: a margin must be",
		"advisory: median_ttft":          "line 1: advisory: it must be a list",
		"ceiling:\n  p99_ttft: inf":      "line 2: ceiling: p99_ttft=inf: it must be a number, in ms",
		"allowed-failures: 100%":         "line 1: allowed-failures: 100%: it must be a share of the requests below 100%, such as 1%",
		"margin: {median_ttft: 5}":       "line 1: margin: median_ttft=5: a margin must be a share such as 5%",
		"allowed-failures: 0.01":         "line 1: allowed-failures: 0.01: it must be a share",
		"floor: {p101_ttft: 2}":          "line 1: floor: p101_ttft=2: no metric is called",
		"margin: {median_ttft: 5%":       "yaml: line ",
		"floor:\n  p90_e2el: 5\n  x: [a": "yaml: line ",
	} {
		gate := Default()
		if err := yaml.Unmarshal([]byte(text), &gate); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzGateFile(f *testing.F) {
	example, err := os.ReadFile("../../../examples/ci/gate.yml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add("margin: &a {median_ttft: 5%}\nceiling: *a\nalpha: 0.1")
	f.Fuzz(func(t *testing.T, text string) {
		gate := Default()
		if err := yaml.Unmarshal([]byte(text), &gate); err != nil {
			return
		}
		for _, l := range gate.Limits {
			if !(l.Relative >= 0 && l.Absolute >= 0) {
				t.Errorf("a margin of %v and %v", l.Relative, l.Absolute)
			}
		}
	})
}

// docs/compare.md has each key of a gate file, and each number; of a latency's, the latency.
func TestTheGateIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, s := range Settings {
		if !strings.Contains(page, "\n"+s.Name+":") {
			t.Errorf("no key %s", s.Name)
		}
	}
	for _, m := range numbers.All() {
		_, latency, _ := strings.Cut(m.Name, "_")
		if !strings.Contains(page, "`"+m.Name+"`") && !strings.Contains(page, "`"+latency+"`") {
			t.Errorf("no number %s", m.Name)
		}
	}
}
