package compare

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

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
