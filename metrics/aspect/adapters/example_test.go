package adapters_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/record"
)

// Of three requests, two ask for the adapter sql.
func Example() {
	c := aspect.Collector(new(metrics.Header))
	for i, adapter := range []string{"sql", "chat", "sql"} {
		r := &record.Record{Index: i, Adapter: adapter, Tokens: record.Tokens{Out: 1}}
		r.Answer.Chunks.Append(time.Duration(100+i) * time.Millisecond)
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	for _, a := range adapters.Of(c.Summary(10)) {
		fmt.Printf("%s: %.1f requests/s, mean TTFT %.0f ms\n", a.Name, a.RequestThroughput, a.TTFT.Mean())
	}

	// Output:
	// chat: 0.1 requests/s, mean TTFT 101 ms
	// sql: 0.2 requests/s, mean TTFT 101 ms
}
