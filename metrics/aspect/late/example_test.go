package late_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/late"
	"github.com/servebench/servebench/metrics/record"
)

// The second chunk was read with the third, and may have come 40 ms before.
func Example() {
	r := new(record.Record)
	for _, at := range []time.Duration{100, 150, 150, 160} {
		r.Answer.Chunks.Append(at * time.Millisecond)
	}
	r.Times.Last = r.Answer.Chunks.Last()
	r.Answer.Late.Add(1, 40*time.Millisecond)
	c := metrics.NewCollector(&metrics.Header{}, late.Kind)
	c.Add(r)
	s := c.Summary(1)
	least, most, _ := late.ITL(s, 100)
	fmt.Printf("%d chunk is late: the longest ITL lies between %.0f and %.0f ms\n", late.Of(s).Chunks, least, most)
	// Output: 1 chunk is late: the longest ITL lies between 10 and 50 ms
}
