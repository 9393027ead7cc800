package loading_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/loading"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	c := metrics.NewCollector(&metrics.Header{}, loading.Kind)
	for _, load := range []float64{2310, 12} {
		r := &record.Record{Server: &record.ServerTimes{LoadMS: &load}}
		r.Answer.Chunks.Append(3 * time.Second)
		r.Times.Last, r.Times.End = 3*time.Second, 3*time.Second
		c.Add(r)
	}
	fmt.Println(loading.Note(c.Summary(1)))
	// Output: 1 request waited until the server had loaded the model, 2.3 s at most, and their latencies have the wait: load it first (--num-warmups), and have the server keep it
}
