package stream

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

// answered is a completed request of so many tokens, of which so many were asked for.
func answered(out, asked int, finish string) *metrics.Record {
	return &metrics.Record{Out: out, OutAsked: asked, Finish: finish}
}

// arrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func arrived(r metrics.Record, chunks ...float64) *metrics.Record {
	for _, at := range chunks {
		r.Chunks.Append(time.Duration(at * float64(msec)))
	}
	r.Last = max(r.Last, r.Chunks.Last())
	r.End = max(r.End, r.Last)
	if r.FirstContent == 0 {
		r.FirstContent = r.Chunks.First()
	}
	return &r
}

const msec = time.Millisecond

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

// requests are made-up records, sent over ten seconds.
func requests(n int) []*metrics.Record {
	random := rand.New(rand.NewPCG(1, 2))
	records := make([]*metrics.Record, n)
	for i := range records {
		r := &metrics.Record{Index: i, In: 100, Due: time.Duration(random.Int64N(1e10))}
		r.Slot = r.Due + time.Duration(random.Int64N(1e8))
		r.Sent = r.Slot + time.Duration(random.Int64N(1e6))
		at := r.Sent + time.Duration(random.Int64N(1e9))
		r.Out = 1 + random.IntN(60)
		for range r.Out {
			r.Chunks.Append(at)
			at += time.Duration(random.ExpFloat64() * 1e7)
		}
		r.Last = r.Chunks.Last()
		r.End = r.Last
		records[i] = r
	}
	return records
}

// sentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func sentAt(sent float64, chunks ...float64) *metrics.Record {
	at := time.Duration(sent * float64(msec))
	return arrived(metrics.Record{Due: at, Slot: at, Sent: at, In: 10, Out: len(chunks)}, chunks...)
}

// three are a chat whose chunks hold several tokens, a completion that waited for
// a slot, and a failure beside them.
func three() []*metrics.Record {
	return []*metrics.Record{
		arrived(metrics.Record{
			Index: 0, Sent: 10 * msec, Wrote: 15 * msec, FirstContent: 60 * msec, End: 111 * msec,
			Conn: metrics.Conn{New: true, DNS: msec, Connect: 2 * msec, Proxy: 4 * msec, TLS: 3 * msec},
			Out:  6, TokensPerChunk: []int{0, 1, 2, 3, 0},
		}, 50, 60, 70, 100, 100),
		arrived(metrics.Record{Index: 1, Due: 20 * msec, Slot: 30 * msec, Sent: 31 * msec, Wrote: 31500 * time.Microsecond, Out: 3}, 81, 91, 101),
		{Index: 2, Due: 30 * msec, Slot: 30 * msec, Sent: 32 * msec, End: 40 * msec, Class: metrics.Status, Error: "no"},
	}
}

func truthOf(c metrics.Config, records ...*metrics.Record) *metrics.Truth {
	collector := metrics.NewCollector(&metrics.Header{Config: c})
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1).Truth
}

// premature are four requests of 100 ms TTFT, and one whose first chunk is stamped
// 5 s before it was sent.
func premature() []*metrics.Record {
	var records []*metrics.Record
	for i := range 5 {
		r := &metrics.Record{Run: "r", Index: i, Sent: 10 * time.Second, In: 7, Out: 2}
		first := r.Sent + 100*msec
		if i == 3 {
			first = r.Sent - 5*time.Second
		}
		r.Chunks.Append(first)
		r.Chunks.Append(r.Sent + 200*msec)
		r.FirstContent, r.Last, r.End = first, r.Chunks.Last(), r.Chunks.Last()
		records = append(records, r)
	}
	return records
}

func checkRefused(t *testing.T, s *metrics.Summary) {
	t.Helper()
	if s.Completed != 4 || s.Failed != 1 || s.Classes[metrics.Malformed] != 1 || s.TotalOutput != 8 {
		t.Errorf("%d completed, %d failed %v, %d tokens", s.Completed, s.Failed, s.Classes, s.TotalOutput)
	}
	if !nearby(s.TTFT.Mean(), 100) || s.TTFT.Len() != 4 || !nearby(s.TPOT.Mean(), 100) || s.ITL.Len() != 4 || s.Truth.ContentTTFT.Len() != 4 {
		t.Errorf("TTFT %v of %d, TPOT %v, %d gaps, %d with content", s.TTFT.Mean(), s.TTFT.Len(), s.TPOT.Mean(), s.ITL.Len(), s.Truth.ContentTTFT.Len())
	}
	if len(s.Warnings) != 1 || s.Warnings[0] != refusal {
		t.Errorf("warnings %q", s.Warnings)
	}
}

const refusal = "1 request counted as failed: the answer is stamped before the request was sent, so TTFT would be negative"

// nearby says that got is want as well as a histogram of three digits can tell.
func nearby(got, want float64) bool {
	return got == want || math.Abs(got-want) <= want/1000
}

// chatRecord is a chat answer: its role after 100 ms, three tokens from 400 ms on,
// an end without output at 700 ms and usage at 800 ms.
func chatRecord() *metrics.Record {
	r := &metrics.Record{Run: "r", Sent: 0, FirstContent: 400 * time.Millisecond, Last: 600 * time.Millisecond, Trailer: 800 * time.Millisecond,
		End: 900 * time.Millisecond, Status: 200, In: 10, Out: 3, Finish: "stop", Until032: &metrics.Tokens{In: 9, Out: 5}}
	for _, ms := range []int{400, 500, 600} {
		r.Chunks.Append(time.Duration(ms) * time.Millisecond)
	}
	for _, ms := range []int{100, 700} {
		r.Blank.Append(time.Duration(ms) * time.Millisecond)
	}
	return r
}

var definitionTests = []struct {
	metrics.Definitions
	want []int64
	out  int
}{
	{"", []int64{400, 600, 100, 100}, 3},
	{metrics.Definitions033, []int64{400, 600, 100, 100}, 3},
	{metrics.Definitions030, []int64{100, 700, 300, 100, 100, 100}, 5},
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
