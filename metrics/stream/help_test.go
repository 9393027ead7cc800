package stream

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/record"
)

// answered is a completed request of so many tokens, of which so many were asked for.
func answered(out, asked int, finish string) *record.Record {
	return &record.Record{Tokens: record.Tokens{Out: out, OutAsked: asked}, Answer: record.Answer{Finish: finish}}
}

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

const msec = time.Millisecond

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

// requests are made-up records, sent over ten seconds.
func requests(n int) []*record.Record {
	random := rand.New(rand.NewPCG(1, 2))
	records := make([]*record.Record, n)
	for i := range records {
		r := &record.Record{Index: i, Tokens: record.Tokens{In: 100}, Times: record.Times{Due: time.Duration(random.Int64N(1e10))}}
		r.Times.Slot = r.Times.Due + time.Duration(random.Int64N(1e8))
		r.Times.Sent = r.Times.Slot + time.Duration(random.Int64N(1e6))
		at := r.Times.Sent + time.Duration(random.Int64N(1e9))
		r.Tokens.Out = 1 + random.IntN(60)
		for range r.Tokens.Out {
			r.Answer.Chunks.Append(at)
			at += time.Duration(random.ExpFloat64() * 1e7)
		}
		r.Times.Last = r.Answer.Chunks.Last()
		r.Times.End = r.Times.Last
		records[i] = r
	}
	return records
}

// sentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func sentAt(sent float64, chunks ...float64) *record.Record {
	at := time.Duration(sent * float64(msec))
	return arrived(record.Record{Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{In: 10, Out: len(chunks)}}, chunks...)
}

// three are a chat whose chunks hold several tokens, a completion that waited for
// a slot, and a failure beside them.
func three() []*record.Record {
	return []*record.Record{
		arrived(record.Record{
			Index: 0,
			Conn:  record.Conn{New: true, DNS: msec, Connect: 2 * msec, Proxy: 4 * msec, TLS: 3 * msec}, Times: record.Times{Sent: 10 * msec, Wrote: 15 * msec, FirstContent: 60 * msec, End: 111 * msec},
			Tokens: record.Tokens{Out: 6, PerChunk: []int{0, 1, 2, 3, 0}},
		}, 50, 60, 70, 100, 100),
		arrived(record.Record{Index: 1, Times: record.Times{Due: 20 * msec, Slot: 30 * msec, Sent: 31 * msec, Wrote: 31500 * time.Microsecond}, Tokens: record.Tokens{Out: 3}}, 81, 91, 101),
		{Index: 2, Times: record.Times{Due: 30 * msec, Slot: 30 * msec, Sent: 32 * msec, End: 40 * msec}, Result: record.Result{Class: record.Status, Error: "no"}},
	}
}

func summaryOf(c metrics.Config, records ...*record.Record) *metrics.Summary {
	collector := aspect.Collector(&metrics.Header{Config: c})
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1)
}

// premature are four requests of 100 ms TTFT, and one whose first chunk is stamped
// 5 s before it was sent.
func premature() []*record.Record {
	var records []*record.Record
	for i := range 5 {
		r := &record.Record{Run: "r", Index: i, Times: record.Times{Sent: 10 * time.Second}, Tokens: record.Tokens{In: 7, Out: 2}}
		first := r.Times.Sent + 100*msec
		if i == 3 {
			first = r.Times.Sent - 5*time.Second
		}
		r.Answer.Chunks.Append(first)
		r.Answer.Chunks.Append(r.Times.Sent + 200*msec)
		r.Times.FirstContent, r.Times.Last, r.Times.End = first, r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		records = append(records, r)
	}
	return records
}

func checkRefused(t *testing.T, s *metrics.Summary) {
	t.Helper()
	if s.Completed != 4 || s.Failed != 1 || failures.Of(s).Requests(record.Malformed) != 1 || s.Totals.Output != 8 {
		t.Errorf("%d completed, %d failed %v, %d tokens", s.Completed, s.Failed, failures.Of(s).Classes, s.Totals.Output)
	}
	if !nearby(s.TTFT.Mean(), 100) || s.TTFT.Len() != 4 || !nearby(s.TPOT.Mean(), 100) || s.ITL.Len() != 4 || reasoning.Of(s).ContentTTFT.Len() != 4 {
		t.Errorf("TTFT %v of %d, TPOT %v, %d gaps, %d with content", s.TTFT.Mean(), s.TTFT.Len(), s.TPOT.Mean(), s.ITL.Len(), reasoning.Of(s).ContentTTFT.Len())
	}
	if len(s.Ending.Warnings) != 1 || s.Ending.Warnings[0] != refusal {
		t.Errorf("warnings %q", s.Ending.Warnings)
	}
}

const refusal = "1 request counted as failed: the answer is stamped before the request was sent, so TTFT would be negative"

// nearby says that got is want as well as a histogram of three digits can tell.
func nearby(got, want float64) bool {
	return got == want || math.Abs(got-want) <= want/1000
}

// chatRecord is a chat answer: its role after 100 ms, three tokens from 400 ms on,
// an end without output at 700 ms and usage at 800 ms.
func chatRecord() *record.Record {
	r := &record.Record{Run: "r", Times: record.Times{Sent: 0, FirstContent: 400 * time.Millisecond, Last: 600 * time.Millisecond, Trailer: 800 * time.Millisecond,
		End: 900 * time.Millisecond}, Result: record.Result{Status: 200}, Tokens: record.Tokens{In: 10, Out: 3, Until032: &record.Count{In: 9, Out: 5}}, Answer: record.Answer{Finish: "stop"}}
	for _, ms := range []int{400, 500, 600} {
		r.Answer.Chunks.Append(time.Duration(ms) * time.Millisecond)
	}
	for _, ms := range []int{100, 700} {
		r.Answer.Blank.Append(time.Duration(ms) * time.Millisecond)
	}
	return r
}

var definitionTests = []struct {
	record.Definitions
	want []int64
	out  int
}{
	{"", []int64{400, 600, 100, 100}, 3},
	{record.Definitions033, []int64{400, 600, 100, 100}, 3},
	{record.Definitions030, []int64{100, 700, 300, 100, 100, 100}, 5},
}

var epoch = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// alike are n values of that many milliseconds.
func alike(ms float64, n int) metrics.Distribution {
	var d metrics.Distribution
	for range n {
		d.Add(ms / 1000)
	}
	return d
}

// failing are the names of the checks that failed.
func failing(s *metrics.Summary) []string {
	var names []string
	for _, c := range s.Trust.Failed() {
		names = append(names, c.Name)
	}
	return names
}
