package held

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// three are a chat, a completion that waited for a slot, and a failure beside them.
func three() []*record.Record {
	return []*record.Record{
		{Times: record.Times{Sent: 10 * msec, Last: 101 * msec, End: 111 * msec}, Answer: record.Answer{Chunks: chunks(50, 60, 70, 100, 100)}},
		{Index: 1, Times: record.Times{Due: 20 * msec, Slot: 30 * msec, Sent: 31 * msec, Last: 101 * msec, End: 101 * msec}, Answer: record.Answer{Chunks: chunks(81, 91, 101)}},
		{Index: 2, Times: record.Times{Due: 30 * msec, Slot: 30 * msec, Sent: 32 * msec, End: 40 * msec}, Result: record.Result{Class: record.Status, Error: "no"}},
	}
}

// chunks came at these milliseconds.
func chunks(ms ...int) (s record.Stamps) {
	for _, at := range ms {
		s.Append(time.Duration(at) * msec)
	}
	return s
}

// run is a run of these requests, with their Trace.
func run(c metrics.Config, records ...*record.Record) *metrics.Summary {
	collector := metrics.NewCollector(&metrics.Header{Config: c}, Kind)
	collector.Keep.Trace = true
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1)
}

func TestASlotIsHeldFromTheLastChunkToTheEnd(t *testing.T) {
	s := run(metrics.Config{}, three()...)
	want := Held{Mean: 5 * msec, Share: 10.0 / (91 + 70)}
	if h := Of(s).Held; h != want {
		t.Errorf("%+v, want %+v", h, want)
	}
	if h := Of(s.Within(s.Whole())).Held; h != want {
		t.Errorf("in a window of the whole run: %+v, want %+v", h, want)
	}
}

func TestAgeAfterTheLastChunkMayBeOurs(t *testing.T) {
	late := func(age time.Duration) *record.Record {
		return &record.Record{Times: record.Times{Last: 20 * msec, End: 26 * msec}, Answer: record.Answer{Chunks: chunks(10, 20), MaxAge: age}}
	}
	h := Of(run(metrics.Config{}, late(4*msec), late(time.Second)))
	if want := (Held{Mean: 6 * msec, Share: 0.3, Unread: 5 * msec}); h.Held != want {
		t.Errorf("%+v, want %+v", h.Held, want)
	}
}

func TestShardsHoldTogether(t *testing.T) {
	all := three()
	a, b := new(Holding), new(Holding)
	a.Add(all[0])
	b.Add(all[1])
	a.Merge(b)
	sum := a.Sum(1).(*Holding)
	if want := (Held{Mean: 5 * msec, Share: 10.0 / (91 + 70)}); sum.Held != want {
		t.Errorf("%+v, want %+v", sum.Held, want)
	}
}
