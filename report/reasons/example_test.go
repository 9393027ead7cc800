package reasons_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/reasons"
)

// Two checks that failed have one remedy.
func Example() {
	t := &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{
		{Name: "lag", Text: "lag p99 9.00 ms", Remedy: "leave the machine to servebench"},
		{Name: "completed", Text: "3 of 4 requests completed", OK: true},
		{Name: "own CPU", Text: "own CPU 97 % of 2 cores", Remedy: "leave the machine to servebench"},
	}}
	for _, why := range reasons.Of(t) {
		fmt.Println(why.String())
	}
	fmt.Println(reasons.Texts(&verdict.Trust{Verdict: verdict.Valid, Checks: t.Checks[1:2]}))
	// Output:
	// lag p99 9.00 ms; own CPU 97 % of 2 cores → leave the machine to servebench
	// [3 of 4 requests completed]
}
