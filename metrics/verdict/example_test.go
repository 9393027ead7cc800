package verdict_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/verdict"
)

// A check that is not OK makes a run SUSPECT.
func Example() {
	t := verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{
		{Name: "lag", Figure: 0.2, Unit: "ms", Limit: 1, OK: true, Text: "P99 lag 0.20 ms"},
		{Name: "cpu", Figure: 97, Unit: "%", Limit: 80, Text: "97.0 % of a core (limit 80.0 %)"},
	}}
	for _, c := range t.Failed() {
		fmt.Printf("%s: %s\n", t.Verdict, c.Text)
	}

	// Output:
	// SUSPECT: 97.0 % of a core (limit 80.0 %)
}
