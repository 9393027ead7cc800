package gating

import (
	"fmt"
	"testing"
)

// The text of a gate reads back as the same gate, in the same order, and has one line.
func TestGateTextReadsBack(t *testing.T) {
	for _, settings := range [][]string{
		{},
		{"margin", "median_ttft=5%"},
		{"margin", "p95_itl=7%,1.5ms", "margin", "p99_ttft=0.3%", "margin", "median_tpot=2ms", "margin", "mean_itl=0%"},
		{"advisory", "median_tpot", "ceiling", "p99_ttft=200", "floor", "p99_ttft=1.25", "floor", "output_throughput=1e3"},
		{"alpha", "0.0000000000001", "unit", "run", "allowed-failures", "3.3%", "despite", "suspect,client", "despite", "host,suspect"},
		{"advisory", "median_tpot", "advisory", "median_ttft", "advisory", "output_throughput"},
	} {
		gate := Default()
		for i := 0; i < len(settings); i += 2 {
			if err := set(&gate, settings[i], settings[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		text := gate.Text()
		read, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if plain(gate) != plain(read) || read.Text() != text {
			t.Errorf("%s: %s, want %s", text, plain(read), plain(gate))
		}
	}
}

func set(g *Gate, name, value string) error {
	for _, s := range Settings {
		if s.Name == name {
			return s.Set(g, value)
		}
	}
	return nil
}

// plain is what can be compared of a gate.
func plain(g Gate) string {
	var all []any
	for _, l := range g.Limits {
		all = append(all, l.Number.Name, l.Relative, l.Absolute, l.usual)
	}
	for _, b := range g.Bounds {
		all = append(all, b.Number.Name, b.Least, b.Most)
	}
	return fmt.Sprint(append(all, g.Alpha, g.Unit, g.Allowed, g.Despite)...)
}
