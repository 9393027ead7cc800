package pace

import (
	"math"
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

func TestThePaceIsOfRequestsThatAreDueOneAfterTheOther(t *testing.T) {
	s := run(metrics.Config{RequestRate: 50}, three()...)
	p := Of(s)
	if want := (Pace{Requests: 3, Due: 30 * msec, Sent: 22 * msec, Queue: 10 * msec, Lag: 13 * msec}); p.Pace != want {
		t.Errorf("%+v, want %+v", p.Pace, want)
	}
	if math.Abs(p.Asked()-2/0.030) > 1e-9 || math.Abs(p.Achieved()-2/0.022) > 1e-9 {
		t.Errorf("asked %v, achieved %v", p.Asked(), p.Achieved())
	}
	if part := Of(s.Within(s.Whole())); part.Pace != p.Pace {
		t.Errorf("in a window of the whole run: %+v, want %+v", part.Pace, p.Pace)
	}
	if p := Of(run(metrics.Config{RequestRate: math.Inf(1)}, three()...)); p.Pace != (Pace{}) {
		t.Errorf("all at once: %+v", p.Pace)
	}
	// A rate that grows is inf in vLLM's configuration, too.
	if p := Of(run(metrics.Config{RequestRate: math.Inf(1), RampUp: &metrics.RampUp{Strategy: "linear", Start: 1, End: 5}}, three()...)); p.Requests != 3 {
		t.Errorf("of a ramp: %+v", p.Pace)
	}
}

// A request that was sent inside a window and ends after it counts, as does none that crosses its start.
func TestThePaceOfAWindowIsOfWhatWasSentInside(t *testing.T) {
	var all []*record.Record
	for i := range 5 {
		at := time.Duration(i) * 100 * msec
		all = append(all, &record.Record{Index: i, Times: record.Times{Due: at, Slot: at, Sent: at, End: at + 150*msec}, Result: record.Result{Class: record.Status}})
	}
	part := run(metrics.Config{RequestRate: 10}, all...).Within(metrics.Window{From: 90 * msec, To: 310 * msec})
	if p := Of(part); p.Requests != 3 || p.Due != 200*msec || p.Sent != 200*msec {
		t.Errorf("%+v", p.Pace)
	}
}

func TestShardsKeepThePaceOfOneRun(t *testing.T) {
	h := &metrics.Header{Config: metrics.Config{RequestRate: 50}}
	whole, a, b := Kind.New(h).(*Sending), Kind.New(h).(*Sending), Kind.New(h).(*Sending)
	for i, r := range three() {
		whole.Add(r)
		if i == 0 {
			a.Add(r)
			continue
		}
		r.Times.Due, r.Times.Slot, r.Times.Sent = r.Times.Due-5*msec, r.Times.Slot-5*msec, r.Times.Sent-5*msec
		b.Add(r)
	}
	b.Shift(5 * msec)
	a.Merge(b)
	if got, want := a.Sum(1).(*Sending).Pace, whole.Sum(1).(*Sending).Pace; got != want || got.Requests != 3 {
		t.Errorf("%+v, want %+v", got, want)
	}
}
