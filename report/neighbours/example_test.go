package neighbours_test

import (
	"log"
	"os"

	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/report/neighbours"
	"github.com/servebench/servebench/report/reporttest"
)

// Two targets that are twice as slow together as alone.
func Example() {
	group := reporttest.Pair(true)
	if err := neighbours.Paired(os.Stdout, targets.Pair([]targets.Group{*group, *group})); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Slowdown of each target with the others, from 2 pairs of it alone and with them
	//                       TTFT ms                   TPOT ms           output  requests
	// target                   mean  median      P99     mean      P99   tok/s     req/s
	// a               mean   1.97 ×  1.97 ×  1.94 ×*   2.00 ×  2.00 ×*  1.04 ×    1.04 ×
	//                least   1.97 ×  1.97 ×  1.94 ×*   2.00 ×  2.00 ×*  1.04 ×    1.04 ×
	//                 most   1.97 ×  1.97 ×  1.94 ×*   2.00 ×  2.00 ×*  1.04 ×    1.04 ×
	// b-with-a-name   mean   1.94 ×  1.94 ×  1.88 ×*   2.00 ×  2.00 ×*  2.00 ×    2.00 ×
	//                least   1.94 ×  1.94 ×  1.88 ×*   2.00 ×  2.00 ×*  2.00 ×    2.00 ×
	//                 most   1.94 ×  1.94 ×  1.88 ×*   2.00 ×  2.00 ×*  2.00 ×    2.00 ×
	// × of a latency: shared / alone; of throughput: alone / shared; above 1 is worse
	// * fewer than 10 values beyond this percentile: too few to decide anything by it
	// Note: the request rate limits the throughput of a, which therefore says little
	//       about interference
}
