package since

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// arrived is r with chunks at these milliseconds after the start of the run.
func arrived(r record.Record, chunks ...time.Duration) *record.Record {
	for _, at := range chunks {
		r.Answer.Chunks.Append(at * msec)
	}
	r.Times.Last = max(r.Times.Last, r.Answer.Chunks.Last())
	r.Times.End = max(r.Times.End, r.Times.Last)
	return &r
}

func of(records ...*record.Record) *Latencies {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for _, r := range records {
		c.Add(r)
	}
	return Of(c.Summary(1))
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

// three are a chat whose connecting took time, a completion that waited for a slot, and a failure beside them.
func three() []*record.Record {
	return []*record.Record{
		arrived(record.Record{
			Conn:   record.Conn{New: true, DNS: msec, Connect: 2 * msec, Proxy: 4 * msec, TLS: 3 * msec},
			Times:  record.Times{Sent: 10 * msec, Wrote: 15 * msec, FirstContent: 60 * msec, Last: 101 * msec, End: 111 * msec},
			Tokens: record.Tokens{Out: 6, PerChunk: []int{0, 1, 2, 3, 0}},
		}, 50, 60, 70, 100, 100),
		arrived(record.Record{
			Index:  1,
			Times:  record.Times{Due: 20 * msec, Slot: 30 * msec, Sent: 31 * msec, Wrote: 31500 * time.Microsecond},
			Tokens: record.Tokens{Out: 3},
		}, 81, 91, 101),
		{
			Index: 2, Times: record.Times{Due: 30 * msec, Slot: 30 * msec, Sent: 32 * msec, End: 40 * msec},
			Result: record.Result{Class: record.Status, Error: "no"},
		},
	}
}

func TestLatenciesAreWhatOneReckonsByHand(t *testing.T) {
	l := of(three()...)
	for name, pair := range map[string][2]float64{
		"written TTFT":   {l.WrittenTTFT.Mean(), (35 + 49.5) / 2},
		"undelayed TTFT": {l.UndelayedTTFT.Mean(), (40 + 49.5) / 2}, // connecting took longer than until it was written
		"scheduled TTFT": {l.ScheduledTTFT.Mean(), (50 + 61) / 2.0},
		"scheduled E2EL": {l.ScheduledE2EL.Mean(), (101 + 81) / 2.0},
	} {
		if !near(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
}

// The last requests before Ctrl-C are the slowest of an overloaded run. They are in the
// block, so the rows beside it have them, too: a latency from when a request was due is
// never less than that from when it was sent.
func TestLatenciesFromDueHaveWhatDrained(t *testing.T) {
	quick := arrived(record.Record{Times: record.Times{Sent: 1 * msec}, Tokens: record.Tokens{Out: 2}}, 11, 21)
	slow := arrived(record.Record{Phase: record.Drain, Times: record.Times{Sent: 5 * msec}, Tokens: record.Tokens{Out: 2}}, 905, 915)
	l := of(quick, slow)
	if !near(l.ScheduledTTFT.Mean(), (11+905)/2.0) || !near(l.ScheduledE2EL.Mean(), (21+915)/2.0) {
		t.Errorf("from when they were due TTFT is %v and E2EL %v, want 458 and 468", l.ScheduledTTFT.Mean(), l.ScheduledE2EL.Mean())
	}
}

// An answer in one piece has no TTFT, and a request whose writing nobody saw is in no latency from then on.
func TestAnswersInOnePieceHaveNoTTFT(t *testing.T) {
	whole := arrived(record.Record{Times: record.Times{Wrote: 1 * msec}, Answer: record.Answer{Unstreamed: true}}, 800)
	streamed := arrived(record.Record{Tokens: record.Tokens{Out: 2}}, 100, 200)
	l := of(whole, streamed)
	if l.ScheduledTTFT.Len() != 1 || l.WrittenTTFT.Len() != 0 || l.UndelayedTTFT.Len() != 0 || l.ScheduledE2EL.Len() != 2 {
		t.Errorf("%d and %d from due, %d written, %d undelayed", l.ScheduledTTFT.Len(), l.ScheduledE2EL.Len(),
			l.WrittenTTFT.Len(), l.UndelayedTTFT.Len())
	}
}

func TestShardsAddUp(t *testing.T) {
	one, two := metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind)
	for i, r := range three() {
		if i == 0 {
			one.Add(r)
		} else {
			two.Add(r)
		}
	}
	one.Merge(two, 0)
	whole, want := Of(one.Summary(1)).Distributions(), of(three()...).Distributions()
	for i, d := range whole {
		if d.Len() != 2 || d.Mean() != want[i].Mean() {
			t.Errorf("%d: %d requests, mean %v, want %v", i, d.Len(), d.Mean(), want[i].Mean())
		}
	}
}
