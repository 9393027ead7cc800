package since_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/record"
)

// The request waited for a slot for 30 ms, and took 10 ms to connect.
func Example() {
	const msec = time.Millisecond
	r := &record.Record{Times: record.Times{Due: 20 * msec, Slot: 50 * msec, Sent: 50 * msec, Wrote: 60 * msec}}
	r.Answer.Chunks.Append(100 * msec)
	r.Times.Last, r.Times.End = 100*msec, 100*msec
	var l since.Latencies
	l.Add(r)
	fmt.Printf("TTFT since it was written %.0f ms, since it was due %.0f ms\n",
		l.WrittenTTFT.Mean(), l.ScheduledTTFT.Mean())
	// Output: TTFT since it was written 40 ms, since it was due 80 ms
}
