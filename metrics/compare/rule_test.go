package compare

import (
	"fmt"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
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
		gate := DefaultGate()
		for i := 0; i < len(settings); i += 2 {
			if err := set(&gate, settings[i], settings[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		text := gate.Text()
		read, err := ParseGate(text)
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

// The runs of a sequential sweep know its rule: the newest counts, and runs without one take the usual gate.
func TestRunsKnowTheirRule(t *testing.T) {
	run := func(second int64, gate string) *Run {
		s := &metrics.Summary{Header: &metrics.Header{Epoch: time.Unix(second, 0), Rule: &metrics.Rule{Old: "a", New: "b", Gate: gate}}}
		if gate == "" {
			s.Header.Rule = nil
		}
		return Runs([]*metrics.Summary{s})[0]
	}
	first, last, none := run(1, "{margin: {p95_ttft: 7%}}"), run(2, "{margin: {p95_ttft: 7%}, despite: [suspect]}"), run(3, "")
	for _, c := range []struct {
		runs  []*Run
		want  string
		notes int
	}{
		{[]*Run{first, first}, "{margin: {p95_ttft: 7%}}", 0},
		{[]*Run{last, first}, "{margin: {p95_ttft: 7%}, despite: [suspect]}", 1},
		{[]*Run{first, none}, "{}", 0},
		{nil, "{}", 0},
	} {
		rule, gate, notes, err := Recorded(c.runs)
		if err != nil || gate.Text() != c.want || len(notes) != c.notes || (rule == nil) != (c.want == "{}") {
			t.Errorf("%v %s %q %v, want %s", rule, gate.Text(), notes, err, c.want)
		}
	}
	if _, _, _, err := Recorded([]*Run{run(1, "{nothing: 1}")}); err == nil {
		t.Error("a rule that nobody understands is no error")
	}
}

// A sweep that its numbers ended without a verdict ended for a reader, too.
func TestReaderGivesUpAsTheSweep(t *testing.T) {
	for _, test := range []struct {
		most        int
		differences []float64
		want        Verdict
		why         string
	}{
		{4, []float64{0.05, 0.14, 0.06, 0.03}, Futile, "after 4 pairs, which are the most"},
		{5, []float64{0.5, -0.6, 0.5, -0.6}, Futile, "after 4 pairs: the chance of a decision by 5 is "},
		{20, []float64{0.05, 0.14, 0.06, 0.13}, NoVerdict, ""},
	} {
		old, new := inPairs(test.most, test.differences...)
		c := Compare(old, new, ttftGate())
		c.Conclude()
		if c.Verdict != test.want || len(c.Reasons) == 0 || c.Reasons[0][:min(len(c.Reasons[0]), len(test.why))] != test.why {
			t.Errorf("at most %d: %s %q, want %s", test.most, c.Verdict, c.Reasons, test.why)
		}
	}
}
