package reporttest

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

// Talks is a run of 40 sessions, one each second, of three to seven turns, with gaps of persons and
// of tools. Sessions wait for slots, a server finds most of each history in its cache, one turn
// fails, and the run ends before the last two sessions.
func Talks() *metrics.Summary {
	config := metrics.Config{Dataset: "sessions", RequestRate: 1, NumPrompts: 40, Percentiles: []float64{50, 99},
		Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Goodput: []metrics.SLO{{Metric: "ttft", Limit: 100}}}
	c := aspect.Collector(&metrics.Header{Config: config})
	c.Keep.Trace = true
	var end time.Duration
	for i := range 40 {
		due := time.Duration(i) * time.Second
		slot, turns := due+time.Duration(i%4)*100*ms, 3+i%5
		ready := due
		for turn := range turns {
			gap := time.Duration(turn%3) * 500 * ms
			r := &record.Record{Index: i, Turn: turn,
				Session: &record.Turn{ID: fmt.Sprint("s", i), Turns: turns, Ready: ready, Gap: gap, Tool: turn == 2,
					SessionSlot: slot, At: new(due + time.Duration(turn)*400*ms), Took: 100 * ms,
					History: 100 * turn, Reusable: 96 * turn},
				Times:  record.Times{Due: ready + gap},
				Tokens: record.Tokens{In: 100 * (turn + 1), InAsked: 100 * (turn + 1), Out: 10, OutAsked: 10}}
			r.Times.Slot = max(r.Times.Due, slot) + 5*ms
			r.Times.Sent = r.Times.Slot + time.Duration(i%7)*50*time.Microsecond
			r.Tokens.Cached, r.Tokens.Uncached = 80*turn, turn == 0
			if turn > 0 {
				r.Session.Waits = []int{turn - 1}
			}
			for j := range 10 {
				r.Answer.Chunks.Append(r.Times.Sent + time.Duration(40+10*turn+i%11+12*j)*ms)
			}
			r.Times.FirstContent, r.Times.Last = r.Answer.Chunks.First(), r.Answer.Chunks.Last()
			r.Times.End = r.Times.Last
			ready = r.Times.End
			broke := i == 7 && turn == 1
			if broke {
				r.Result.Class, r.Result.Status, r.Result.Error = record.Status, 500, "no room"
				r.Answer.Chunks, r.Times.Last, r.Tokens.Cached = record.Stamps{}, 0, 0
			}
			c.Add(r)
			if end = max(end, r.Times.End); broke || i >= 38 && turn == 1 {
				break
			}
		}
	}
	return c.Summary(end.Seconds())
}
