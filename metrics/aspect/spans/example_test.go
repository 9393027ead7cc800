package spans_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	const msec = time.Millisecond
	r := &record.Record{Times: record.Times{Slot: 5 * msec, Sent: 6 * msec, Wrote: 8 * msec, Last: 70 * msec, End: 71 * msec}}
	r.Answer.Chunks.Append(30 * msec)
	r.Answer.Chunks.Append(70 * msec)
	took, _ := spans.OfRequest(r)
	for span, took := range took.All() {
		if took > 0 {
			fmt.Println(span.Label(), took)
		}
	}
	// Output:
	// wait for a slot 5ms
	// lag 1ms
	// write 2ms
	// until the first output 22ms
	// generation 40ms
	// read 1ms
}
