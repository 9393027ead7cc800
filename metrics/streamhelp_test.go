package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// streamAnswered is a completed request of so many tokens, of which so many were asked for.
func streamAnswered(out, asked int, finish string) *Record {
	return &Record{Out: out, OutAsked: asked, Finish: finish}
}

// streamArrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func streamArrived(r Record, chunks ...float64) *Record {
	for _, at := range chunks {
		r.Chunks.Append(time.Duration(at * float64(streamMsec)))
	}
	r.Last = max(r.Last, r.Chunks.Last())
	r.End = max(r.End, r.Last)
	if r.FirstContent == 0 {
		r.FirstContent = r.Chunks.First()
	}
	return &r
}

const streamMsec = time.Millisecond

func streamNear(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

// streamRequests are made-up records, sent over ten seconds.
func streamRequests(n int) []*Record {
	random := rand.New(rand.NewPCG(1, 2))
	records := make([]*Record, n)
	for i := range records {
		r := &Record{Index: i, In: 100, Due: time.Duration(random.Int64N(1e10))}
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

// streamSentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func streamSentAt(sent float64, chunks ...float64) *Record {
	at := time.Duration(sent * float64(streamMsec))
	return streamArrived(Record{Due: at, Slot: at, Sent: at, In: 10, Out: len(chunks)}, chunks...)
}

// streamThree are a chat whose chunks hold several tokens, a completion that waited for
// a slot, and a failure beside them.
func streamThree() []*Record {
	return []*Record{
		streamArrived(Record{
			Index: 0, Sent: 10 * streamMsec, Wrote: 15 * streamMsec, FirstContent: 60 * streamMsec, Last: 101 * streamMsec, End: 111 * streamMsec,
			Conn: Conn{New: true, DNS: streamMsec, Connect: 2 * streamMsec, Proxy: 4 * streamMsec, TLS: 3 * streamMsec},
			Out:  6, TokensPerChunk: []int{0, 1, 2, 3, 0},
		}, 50, 60, 70, 100, 100),
		streamArrived(Record{Index: 1, Due: 20 * streamMsec, Slot: 30 * streamMsec, Sent: 31 * streamMsec, Wrote: 31500 * time.Microsecond, Out: 3}, 81, 91, 101),
		{Index: 2, Due: 30 * streamMsec, Slot: 30 * streamMsec, Sent: 32 * streamMsec, End: 40 * streamMsec, Class: Status, Error: "no"},
	}
}

func streamTruthOf(c Config, records ...*Record) *Truth {
	collector := NewCollector(&Header{Config: c})
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1).Truth
}

// streamPremature are four requests of 100 ms TTFT, and one whose first chunk is stamped
// 5 s before it was sent.
func streamPremature() []*Record {
	var records []*Record
	for i := range 5 {
		r := &Record{Run: "r", Index: i, Sent: 10 * time.Second, In: 7, Out: 2}
		first := r.Sent + 100*streamMsec
		if i == 3 {
			first = r.Sent - 5*time.Second
		}
		r.Chunks.Append(first)
		r.Chunks.Append(r.Sent + 200*streamMsec)
		r.FirstContent, r.Last, r.End = first, r.Chunks.Last(), r.Chunks.Last()
		records = append(records, r)
	}
	return records
}

func streamCheckRefused(t *testing.T, s *Summary) {
	t.Helper()
	if s.Completed != 4 || s.Failed != 1 || s.Classes[Malformed] != 1 || s.TotalOutput != 8 {
		t.Errorf("%d completed, %d failed %v, %d tokens", s.Completed, s.Failed, s.Classes, s.TotalOutput)
	}
	if !streamNearby(s.TTFT.Mean(), 100) || s.TTFT.Len() != 4 || !streamNearby(s.TPOT.Mean(), 100) || s.ITL.Len() != 4 || s.Truth.ContentTTFT.Len() != 4 {
		t.Errorf("TTFT %v of %d, TPOT %v, %d gaps, %d with content", s.TTFT.Mean(), s.TTFT.Len(), s.TPOT.Mean(), s.ITL.Len(), s.Truth.ContentTTFT.Len())
	}
	if len(s.Warnings) != 1 || s.Warnings[0] != streamRefusal {
		t.Errorf("warnings %q", s.Warnings)
	}
}

const streamRefusal = "1 request refused and counted as failed: the answer is stamped before the request was sent, so that TTFT would be negative"

// streamNearby says that got is want as well as a histogram of three digits can tell.
func streamNearby(got, want float64) bool {
	return got == want || math.Abs(got-want) <= want/1000
}

// streamChatRecord is a chat answer: its role after 100 ms, three tokens from 400 ms on,
// an end without output at 700 ms and usage at 800 ms.
func streamChatRecord() *Record {
	r := &Record{Run: "r", Sent: 0, FirstContent: 400 * time.Millisecond, Last: 600 * time.Millisecond, Trailer: 800 * time.Millisecond,
		End: 900 * time.Millisecond, Status: 200, In: 10, Out: 3, Finish: "stop", Until032: &Tokens{In: 9, Out: 5}}
	for _, ms := range []int{400, 500, 600} {
		r.Chunks.Append(time.Duration(ms) * time.Millisecond)
	}
	for _, ms := range []int{100, 700} {
		r.Blank.Append(time.Duration(ms) * time.Millisecond)
	}
	return r
}

var streamDefinitionTests = []struct {
	Definitions
	want []int64
	out  int
}{
	{"", []int64{400, 600, 100, 100}, 3},
	{Definitions033, []int64{400, 600, 100, 100}, 3},
	{Definitions030, []int64{100, 700, 300, 100, 100, 100}, 5},
	{Definitions029, []int64{100, 800, 300, 100, 100, 100}, 5},
}

var streamEpoch = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// streamAlike are n values of that many milliseconds.
func streamAlike(ms float64, n int) Distribution {
	var d Distribution
	for range n {
		d.Add(ms / 1000)
	}
	return d
}

// streamFailing are the names of the checks that failed.
func streamFailing(s *Summary) []string {
	var names []string
	for _, c := range s.Trust.Failed() {
		names = append(names, c.Name)
	}
	return names
}
