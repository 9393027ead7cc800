package comparison_test

import (
	"log"
	"os"

	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report/comparison"
)

// The annotations of a comparison in a GitHub workflow.
func Example() {
	c := &compare.Comparison{
		Verdict: compare.NoVerdict,
		Reasons: []string{"2 old runs and 2 new ones are too few"},
		Notes:   []string{"old run 1: SUSPECT: lag p99 9 ms"},
	}
	if err := comparison.Formats["github"](os.Stdout, c); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ::warning title=servebench NO VERDICT::2 old runs and 2 new ones are too few
	// ::notice title=servebench compare::old run 1: SUSPECT: lag p99 9 ms
}
