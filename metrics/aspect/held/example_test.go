package held_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/held"
	"github.com/servebench/servebench/metrics/record"
)

// An answer ends 2 ms after its last chunk.
func Example() {
	c := aspect.Collector(&metrics.Header{})
	r := &record.Record{Times: record.Times{Last: 100 * time.Millisecond, End: 102 * time.Millisecond}}
	r.Answer.Chunks.Append(100 * time.Millisecond)
	c.Add(r)
	h := held.Of(c.Summary(1))
	fmt.Printf("%v, %.0f %% of E2EL\n", h.Mean, 100*h.Share)

	// Output:
	// 2ms, 2 % of E2EL
}
