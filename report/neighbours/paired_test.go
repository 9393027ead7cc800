package neighbours

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/report/reporttest"
)

// Slowdowns from percentiles of too few samples are marked, and lines below say how to read them.
func TestSlowdownsOfRepeatsAreExplained(t *testing.T) {
	var out strings.Builder
	if err := Paired(&out, targets.Pair([]targets.Group{*reporttest.Pair(true), *reporttest.Pair(true)})); err != nil {
		t.Fatal(err)
	}
	reporttest.Narrow(t, out.String())
	for _, want := range []string{
		"a               mean   1.97 ×  1.97 ×  1.94 ×*   2.00 ×  2.00 ×*  1.04 ×    1.04 ×\n",
		"\n× of a latency: shared / alone; of throughput: alone / shared; above 1 is worse\n* fewer than 10 values beyond this percentile",
		"\nNote: the request rate limits the throughput of a, which therefore says little\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %q", out.String(), want)
		}
	}
}
