package pool_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pool"
	"github.com/servebench/servebench/metrics/samples"
)

// A pool that took 100 MiB in steps, and gave 80 MiB of it back at once.
func Example() {
	s := metrics.Unknown()
	s.Kept.Trace = new(metrics.Trace)
	for i, mib := range []int64{20, 20, 60, 120, 120, 40} {
		s.Kept.Trace.Samples = append(s.Kept.Trace.Samples, &samples.Sample{
			At: time.Duration(i) * 100 * time.Millisecond, Pool: &samples.Pool{Name: "a", Limit: 200 << 20, Used: mib << 20},
		})
	}
	c := pool.Of(s)
	for _, m := range []pool.Move{c.Taken(), c.Returned()} {
		fmt.Printf("%d MiB from %v on: 90 %% in %v, %.0f MiB/s\n", m.Bytes/pool.MiB, m.From, m.To90, m.Rate()/pool.MiB)
	}
	fmt.Printf("%.0f MiB on average\n", c.Mean()/pool.MiB)
	// Output:
	// 100 MiB from 100ms on: 90 % in 200ms, 500 MiB/s
	// 80 MiB from 400ms on: 90 % in 100ms, 800 MiB/s
	// 68 MiB on average
}
