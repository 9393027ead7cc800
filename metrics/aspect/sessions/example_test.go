package sessions_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	c := metrics.NewCollector(&metrics.Header{}, sessions.Kind)
	for turn := range 2 {
		due := time.Duration(turn) * 5 * time.Second
		r := &record.Record{Turn: turn, Session: &record.Turn{Turns: 2}}
		if turn > 0 {
			r.Session.Waits, r.Session.Ready, r.Session.Gap = []int{0}, 3*time.Second, 2*time.Second
		}
		r.Times = record.Times{Due: due, Slot: due, Sent: due, Last: due + 3*time.Second, End: due + 3*time.Second}
		r.Answer.Chunks.Append(due + time.Second)
		r.Answer.Chunks.Append(due + 3*time.Second)
		c.Add(r)
	}
	of := sessions.Of(c.Summary(8))
	fmt.Printf("%d of %d sessions took %.0f ms, of which %v were gaps\n", of.Completed, of.Begun, of.JobTime.Median(),
		of.Parts.Gaps())
	// Output: 1 of 1 sessions took 8000 ms, of which 2s were gaps
}
