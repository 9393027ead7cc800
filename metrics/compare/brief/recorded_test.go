package brief

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
