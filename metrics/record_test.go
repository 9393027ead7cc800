package metrics

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

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

const refusal = "1 request counted as failed: the answer is stamped before the request was sent, so TTFT would be negative"

func checkRefused(t *testing.T, s *Summary) {
	t.Helper()
	if s.Completed != 4 || s.Failed != 1 || s.Totals.Output != 8 {
		t.Errorf("%d completed, %d failed, %d tokens", s.Completed, s.Failed, s.Totals.Output)
	}
	if !nearby(s.TTFT.Mean(), 100) || s.TTFT.Len() != 4 || !nearby(s.TPOT.Mean(), 100) || s.ITL.Len() != 4 {
		t.Errorf("TTFT %v of %d, TPOT %v, %d gaps", s.TTFT.Mean(), s.TTFT.Len(), s.TPOT.Mean(), s.ITL.Len())
	}
	if len(s.Ending.Warnings) != 1 || s.Ending.Warnings[0] != refusal {
		t.Errorf("warnings %q", s.Ending.Warnings)
	}
}

func TestAnAnswerBeforeItsRequestIsRefusedAndCounted(t *testing.T) {
	c := NewCollector(&Header{Run: "r"})
	c.Keep.Trace = true
	values := 0
	for _, r := range premature() {
		c.Add(r)
		if r.Result.Class != record.OK {
			t.Errorf("record %d was changed", r.Index)
		}
		for name := range r.Latencies() {
			if name == "ttft" {
				values++
			}
		}
	}
	s := c.Summary(11)
	checkRefused(t, s)
	if values != 4 {
		t.Errorf("%d TTFTs of single records, want 4", values)
	}
	if part := s.Within(Window{0, time.Minute}); part.Completed != 4 || part.TTFT.Len() != 4 {
		t.Errorf("a window has %d completed and %d TTFTs", part.Completed, part.TTFT.Len())
	}
}

// The first answer came whole, the second was streamed: they must not be in one distribution.
func TestAnAnswerThatCameWholeHasNoLatencyOfATokenAlone(t *testing.T) {
	whole := &record.Record{Run: "r", Times: record.Times{Sent: 100 * msec, Last: 900 * msec, FirstContent: 900 * msec, End: 900 * msec, Wrote: 101 * msec}, Tokens: record.Tokens{In: 7, Out: 40}, Answer: record.Answer{Unstreamed: true}}
	whole.Answer.Chunks.Append(whole.Times.Last)
	streamed := sentAt(1000, 1200, 1300)
	c := NewCollector(&Header{Run: "r", Config: Config{Goodput: []SLO{{"tpot", 5}}}})
	c.Keep.Trace = true
	for _, r := range []*record.Record{whole, streamed} {
		c.Add(r)
	}
	for name, latency := range whole.Latencies() {
		if name != "lag" && name != "queue" && (name != "e2el" || latency != 800*msec) {
			t.Errorf("%s is %v", name, latency)
		}
	}
	s := c.Summary(2)
	if s.TTFT.Len() != 1 || s.TPOT.Len() != 1 || s.E2EL.Len() != 2 || s.Totals.Output != 40+streamed.Tokens.Out {
		t.Errorf("%d TTFTs, %d TPOTs, %d E2ELs, %d tokens", s.TTFT.Len(), s.TPOT.Len(), s.E2EL.Len(), s.Totals.Output)
	}
	if part := s.Within(Window{0, time.Second}); part.TTFT.Len() != 0 || part.E2EL.Len() != 1 || part.Totals.Output != 40 {
		t.Errorf("a window has %d TTFTs, %d E2ELs, %d tokens", part.TTFT.Len(), part.E2EL.Len(), part.Totals.Output)
	}
}

func TestNoLatencyOfATokenIsSelectedWithoutStreams(t *testing.T) {
	c := Config{Whole: true, Metrics: []string{"ttft", "tpot", "itl", "e2el"}}
	for name, want := range map[string]bool{"ttft": false, "tpot": false, "itl": false, "e2el": true} {
		if c.Selected(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
