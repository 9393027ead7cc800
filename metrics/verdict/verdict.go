// Package verdict is what a judge says of a run: whether to believe its numbers, and why.
//
// metrics/trust judges. Reports show the checks, and gates refuse what is not VALID.
package verdict

import (
	"fmt"
	"slices"
	"time"
)

// A Verdict says whether to believe a run's numbers.
type Verdict string

const (
	Valid   Verdict = "VALID"
	Suspect Verdict = "SUSPECT"

	// Overloaded is a run whose numbers are right, but the server did not keep up: the longer the
	// run, the longer the latencies.
	Overloaded Verdict = "OVERLOADED"
)

// Trust is a Verdict and its reasons.
type Trust struct {
	Verdict Verdict
	Checks  []Check  // the checks for which the run has data, in order of weight
	Notes   []string // what a reader should know; nothing is wrong

	// Warnings are what a reader should look into. They do not make a run SUSPECT.
	Warnings []string
}

// A Check is one figure against its limit.
type Check struct {
	Name   string  // the same in every run
	Figure float64 // in Unit
	Unit   string  // as ms or %
	Limit  float64 // in Unit; Figure is fine up to here, or down to here if AtLeast is set
	OK     bool
	Text   string // the figure in words, and the limit if it is not OK

	Remedy string // what to do if it is not OK, unless Text says it

	AtLeast bool
}

// Failed are the checks that made a run SUSPECT or OVERLOADED.
func (t *Trust) Failed() []Check {
	return slices.DeleteFunc(slices.Clone(t.Checks), func(c Check) bool { return c.OK })
}

// BacklogCheck is the check that makes a run OVERLOADED.
const BacklogCheck = "backlog"

// HeldBack is in the text of a check that failed because --max-concurrency, and not the load
// generator, sent requests later than they were due.
const HeldBack = "--max-concurrency held requests back"

// FirstToken is the name of the check for a TTFT that takes an empty chunk for a token.
const FirstToken = "first token"

// Fine reports that the figure is within its limit.
func (c Check) Fine() bool {
	if c.AtLeast {
		return c.Figure >= c.Limit
	}
	return c.Figure <= c.Limit
}

// Percent is a part of a whole in percent; 0 if the whole is 0.
func Percent[T int | int64 | time.Duration](part, whole T) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole) * 100
}

// ShowMS is a time in milliseconds, for the text of a check.
func ShowMS(v float64) string { return ShowDigits(v) + " ms" }

// ShowPercent is a share in percent, for the text of a check.
func ShowPercent(v float64) string { return ShowDigits(v) + " %" }

// ShowDigits is a figure with as many digits as matter.
func ShowDigits(v float64) string {
	switch a := max(v, -v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10 || a == 0:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
