package reasoning

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
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

// bounded gives each of so many Collectors its part of the records, and merges them
// where there are several.
func bounded(records []*record.Record, parts, most int) *metrics.Collector {
	whole := metrics.NewCollector(new(metrics.Header), Kind)
	whole.Cap = most
	for part := range parts {
		c := metrics.NewCollector(new(metrics.Header), Kind)
		c.Cap = most
		for i := part; i < len(records); i += parts {
			c.Add(records[i])
		}
		if parts == 1 {
			return c
		}
		whole.Merge(c, 0)
	}
	return whole
}

// thoughtful is an answer whose reasoning begins after 100 ms, and its output after so many; 0 for an
// answer of reasoning alone.
func thoughtful(i int, output time.Duration) *record.Record {
	r := arrived(record.Record{Run: "r", Index: i, Tokens: record.Tokens{In: 5, Out: 10, OutReasoned: 7}, Answer: record.Answer{Reasoned: true}}, 100, 1000)
	if output > 0 {
		r.Times.FirstOutput = output * msec
	}
	return r
}

// plainly is an answer without reasoning, whose text begins after so many milliseconds.
func plainly(i int, output float64) *record.Record {
	return arrived(record.Record{Run: "r", Index: i, Tokens: record.Tokens{In: 5, Out: 10}}, output, 1000)
}

func TestTTFOEndsAtTheFirstOutputAfterTheReasoning(t *testing.T) {
	for name, c := range map[string]struct {
		record *record.Record
		want   time.Duration
		there  bool
	}{
		"reasoning, then text": {thoughtful(0, 400), 400 * msec, true},
		"reasoning alone":      {thoughtful(0, 0), 0, false},
		"text":                 {plainly(0, 60), 60 * msec, true},
		"nothing":              {&record.Record{}, 0, false},
	} {
		if got, there := c.record.TTFO(); got != c.want || there != c.there {
			t.Errorf("%s: %v, %t, want %v, %t", name, got, there, c.want, c.there)
		}
	}
}

// Shards with and without reasoning, in any order, are known as exactly as one run.
func TestTTFOIsOfAllAnswersOnceOneReasons(t *testing.T) {
	records := []*record.Record{plainly(0, 60), thoughtful(1, 400), plainly(2, 80), thoughtful(3, 0), plainly(4, 100), plainly(5, 120)}
	for parts := 1; parts <= len(records); parts++ {
		s := bounded(records, parts, 1000).Summary(1)
		d, n := s.TTFO(), Of(s)
		if d == nil || d.Len() != 5 || d.Median() != 100 || d.Percentile(100) != 400 || d.Percentile(0) != 60 {
			t.Fatalf("%d parts: %+v", parts, d)
		}
		if n.ContentTTFT.Len() != 6 || n.Answers != 2 || n.Only != 1 || n.Counted != 2 || n.Tokens != 14 || n.Output != 20 {
			t.Errorf("%d parts: %d with content, %+v", parts, n.ContentTTFT.Len(), n)
		}
	}
	text := bounded([]*record.Record{records[0], records[2]}, 1, 1000).Summary(1)
	if text.TTFO() != nil || Of(text).TTFO.Len() != 0 || Of(text).Answers != 0 || Of(text).Counted != 0 {
		t.Errorf("without reasoning: %+v", Of(text))
	}
	if empty := new(metrics.Summary).TTFO(); empty != nil {
		t.Errorf("without records: %+v", empty)
	}
}

// A chat, a completion and a failure: from sending to the first content, and from there on.
func TestLatenciesOfTheContentAreWhatOneReckonsByHand(t *testing.T) {
	n := Of(bounded(three(), 1, 1000).Summary(1))
	if d := n.ContentTTFT; d.Len() != 2 || d.Percentile(0) != 50 || d.Percentile(100) != 50 {
		t.Errorf("TTFT to the first content: %+v", d)
	}
	// (101 − 60) / 5 and (101 − 81) / 2.
	if d := n.ContentTPOT; d.Len() != 2 || math.Abs(d.Percentile(0)-8.2) > 1e-9 || d.Percentile(100) != 10 {
		t.Errorf("TPOT from the first content: %v and %v ms of %d", d.Percentile(0), d.Percentile(100), d.Len())
	}
}

// An answer that came whole has no first content, nor has a failed request.
func TestOnlyStreamedAnswersHaveAFirstContent(t *testing.T) {
	whole := plainly(0, 900)
	whole.Answer.Unstreamed = true
	failed := plainly(1, 60)
	failed.Result.Class = record.Truncated
	if n := Of(bounded([]*record.Record{whole, failed, plainly(2, 60)}, 1, 1000).Summary(1)); n.ContentTTFT.Len() != 1 || n.ContentTPOT.Len() != 1 {
		t.Errorf("%d TTFTs and %d TPOTs, want 1 of each", n.ContentTTFT.Len(), n.ContentTPOT.Len())
	}
}
