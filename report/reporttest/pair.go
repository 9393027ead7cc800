package reporttest

import (
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/trust"
)

// Loaded is a run of so many requests, one each gap, whose chunks come every
// step, with a Trace.
func Loaded(h metrics.Header, n int, gap, step time.Duration) *metrics.Summary {
	h.Config.Metrics, h.Config.Percentiles, h.Config.Dataset = []string{"ttft", "tpot", "itl"}, []float64{99}, "random"
	c := aspect.Collector(&h)
	c.Keep.Trace = true
	var end time.Duration
	for i := range n {
		r := &record.Record{Index: i,
			Times: record.Times{Due: h.Delay + time.Duration(i)*gap}, Tokens: record.Tokens{In: 100, Out: 10}}
		r.Times.Slot, r.Times.Sent = r.Times.Due, r.Times.Due
		for j := range 10 {
			r.Answer.Chunks.Append(r.Times.Sent + time.Duration(3+j)*step + time.Duration(i%5)*ms)
		}
		r.Times.FirstContent, r.Times.Last = r.Answer.Chunks.First(), r.Answer.Chunks.Last()
		r.Times.End = r.Times.Last
		end = max(end, r.Times.End)
		c.Add(r)
	}
	s := c.Summary((end - h.Delay).Seconds())
	trust.Judge(s)
	return s
}

// Pair are targets at 20 req/s and in slots, alone and then together, where each
// takes twice as long; b begins a second after a.
func Pair(solo bool) *targets.Group {
	paced := metrics.Config{RequestRate: 20, NumPrompts: 120}
	slots := metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 4, NumPrompts: 80}
	g := &targets.Group{ID: "g", Shared: []*metrics.Summary{
		Loaded(metrics.Header{Target: "a", Group: "g", Config: paced}, 120, 50*ms, 40*ms),
		Loaded(metrics.Header{Target: "b-with-a-name", Group: "g", Delay: time.Second, Config: slots}, 80, 100*ms, 20*ms),
	}}
	if solo {
		g.Solo = []*metrics.Summary{
			Loaded(metrics.Header{Target: "a", Group: "g", Solo: true, Config: paced}, 120, 50*ms, 20*ms),
			Loaded(metrics.Header{Target: "b-with-a-name", Group: "g", Solo: true, Config: slots}, 80, 50*ms, 10*ms),
		}
	}
	return g
}
