package spans_test

import (
	"os"
	"time"

	"github.com/servebench/servebench/loadgen/sim/spans"
)

func Example() {
	received := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	at := func(ms float64) time.Time { return received.Add(time.Duration(ms * 1e6)) }
	log := spans.NewLog(os.Stdout)
	log.Add(spans.Request{
		ID: "a-1", Received: received, Queued: at(2), Scheduled: at(7), FirstToken: at(27), Wrote: at(27.5),
		LastToken: at(127), LastWrote: at(127.125), Ended: at(127.25), Network: 3 * time.Millisecond, In: 750, Out: 21, Finish: "length",
	})
	// Output:
	// {"id":"a-1","received":"2026-03-01T12:00:00Z","queued_ms":2,"scheduled_ms":7,"first_token_ms":27,"wrote_ms":27.5,"last_token_ms":127,"last_wrote_ms":127.125,"ended_ms":127.25,"spans_ms":{"front_end":2.5,"queue":5,"prefill":20,"network":3,"generation":99.625},"prompt_tokens":750,"output_tokens":21,"finish_reason":"length"}
}
