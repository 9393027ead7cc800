package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// arrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func arrived(r record.Record, chunks ...float64) *record.Record {
	for _, at := range chunks {
		r.Answer.Chunks.Append(time.Duration(at * float64(msec)))
	}
	r.Times.Last = max(r.Times.Last, r.Answer.Chunks.Last())
	r.Times.End = max(r.Times.End, r.Times.Last)
	if r.Times.FirstContent == 0 {
		r.Times.FirstContent = r.Answer.Chunks.First()
	}
	return &r
}

// three are a chat whose chunks hold several tokens, a completion that waited for
// a slot, and a failure beside them.
func three() []*record.Record {
	return []*record.Record{
		arrived(record.Record{
			Index: 0,
			Conn:  record.Conn{New: true, DNS: msec, Connect: 2 * msec, Proxy: 4 * msec, TLS: 3 * msec}, Times: record.Times{Sent: 10 * msec, Wrote: 15 * msec, FirstContent: 60 * msec, Last: 101 * msec, End: 111 * msec},
			Tokens: record.Tokens{Out: 6, PerChunk: []int{0, 1, 2, 3, 0}},
		}, 50, 60, 70, 100, 100),
		arrived(record.Record{Index: 1, Times: record.Times{Due: 20 * msec, Slot: 30 * msec, Sent: 31 * msec, Wrote: 31500 * time.Microsecond}, Tokens: record.Tokens{Out: 3}}, 81, 91, 101),
		{Index: 2, Times: record.Times{Due: 30 * msec, Slot: 30 * msec, Sent: 32 * msec, End: 40 * msec}, Result: record.Result{Class: record.Status, Error: "no"}},
	}
}

func truthOf(c Config, records ...*record.Record) *Truth {
	collector := NewCollector(&Header{Config: c})
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1).Truth
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

func TestTruthIsWhatOneReckonsByHand(t *testing.T) {
	truth := truthOf(Config{RequestRate: 50}, three()...)
	if want := 0.101 + 0.070 + 0.008; !near(truth.MeanConcurrency, want) || truth.PeakConcurrency != 3 {
		t.Errorf("mean concurrency %v and peak %d, want %v and 3", truth.MeanConcurrency, truth.PeakConcurrency, want)
	}
}

func TestForeignOutcomesHaveNoTruth(t *testing.T) {
	c := NewCollector(&Header{})
	c.AddOutcome(Outcome{Success: true, Out: 1})
	s := c.Summary(1)
	if s.Truth != nil {
		t.Errorf("truth %v", s.Truth)
	}
}

func TestCountsAreInOneOrder(t *testing.T) {
	for range 9 {
		if got := ByCount(map[string]int{"d": 1, "b": 1, "e": 2, "a": 1, "c": 1}); !slices.Equal(got, []string{"e", "a", "b", "c", "d"}) {
			t.Fatal(got)
		}
	}
}

func durationMS(v float64) time.Duration { return time.Duration(v * float64(msec)) }
