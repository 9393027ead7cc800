package burst

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// run is a run of these requests, with their Trace.
func run(c metrics.Config, records ...*record.Record) *metrics.Summary {
	collector := metrics.NewCollector(&metrics.Header{Config: c}, Kind)
	collector.Keep.Trace = true
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1)
}

func TestABurstIsOfRequestsWithoutAQueue(t *testing.T) {
	all := []*record.Record{
		{Times: record.Times{Sent: 3 * msec, End: 9 * msec}}, {Times: record.Times{Sent: 7 * msec, End: 9 * msec}},
		{Times: record.Times{Slot: 9 * msec, Sent: 40 * msec, End: 50 * msec}},                         // waited for a slot
		{Turn: 1, Times: record.Times{Due: 9 * msec, Slot: 9 * msec, Sent: 60 * msec, End: 70 * msec}}, // a later turn
		{Phase: record.WarmUp, Times: record.Times{Sent: 80 * msec, End: 90 * msec}},                   // not measured
		{Phase: record.Drain, Times: record.Times{Sent: 90 * msec, End: 1e12}},                         // stopped
	}
	s := run(metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 2}, all...)
	if b := Of(s); b.Requests != 2 || b.Took != 7*msec {
		t.Errorf("%d requests took %v, want 2 and 7 ms", b.Requests, b.Took)
	}
	if b := Of(s.Within(s.Whole())); b.Requests != 0 {
		t.Errorf("a window has a burst of %d requests", b.Requests)
	}
	// A rate that grows is inf in vLLM's configuration, too.
	ramp := metrics.Config{RequestRate: math.Inf(1), RampUp: &metrics.RampUp{Strategy: "linear", Start: 1, End: 5}}
	if b := Of(run(ramp, all...)); b.Requests != 0 || b.Took != 0 {
		t.Errorf("a ramp has a burst of %d requests", b.Requests)
	}
	// In a closed loop each is due when there is a slot.
	all = append(all, &record.Record{Times: record.Times{Due: 9 * msec, Slot: 9 * msec, Sent: 10 * msec, End: 20 * msec}})
	if b := Of(run(metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 2}, all...)); b.Requests != 0 {
		t.Errorf("a closed loop has a burst of %d requests", b.Requests)
	}
}

// Shards do not begin at the same instant.
func TestShardsMakeOneBurst(t *testing.T) {
	h := &metrics.Header{Config: metrics.Config{RequestRate: math.Inf(1)}}
	a, b := Kind.New(h).(*Burst), Kind.New(h).(*Burst)
	a.Add(&record.Record{Times: record.Times{Sent: 3 * msec}})
	b.Add(&record.Record{Times: record.Times{Sent: 2 * msec}})
	b.Shift(4 * msec)
	a.Merge(b)
	if sum := a.Sum(1).(*Burst); sum.Requests != 2 || sum.Took != 6*msec {
		t.Errorf("%d requests took %v, want 2 and 6 ms", sum.Requests, sum.Took)
	}
}
