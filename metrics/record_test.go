package metrics

import (
	"testing"
	"time"
)

// premature are four requests of 100 ms TTFT, and one whose first chunk is stamped
// 5 s before it was sent.
func premature() []*Record {
	var records []*Record
	for i := range 5 {
		r := &Record{Run: "r", Index: i, Sent: 10 * time.Second, In: 7, Out: 2}
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

const refusal = "1 request counted as failed: the answer is stamped before the request was sent, so TTFT would be negative"

func checkRefused(t *testing.T, s *Summary) {
	t.Helper()
	if s.Completed != 4 || s.Failed != 1 || s.Classes[Malformed] != 1 || s.TotalOutput != 8 {
		t.Errorf("%d completed, %d failed %v, %d tokens", s.Completed, s.Failed, s.Classes, s.TotalOutput)
	}
	if !nearby(s.TTFT.Mean(), 100) || s.TTFT.Len() != 4 || !nearby(s.TPOT.Mean(), 100) || s.ITL.Len() != 4 || s.Truth.ContentTTFT.Len() != 4 {
		t.Errorf("TTFT %v of %d, TPOT %v, %d gaps, %d with content", s.TTFT.Mean(), s.TTFT.Len(), s.TPOT.Mean(), s.ITL.Len(), s.Truth.ContentTTFT.Len())
	}
	if len(s.Warnings) != 1 || s.Warnings[0] != refusal {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestAnAnswerBeforeItsRequestIsRefusedAndCounted(t *testing.T) {
	c := NewCollector(&Header{Run: "r"})
	c.KeepTrace = true
	values := 0
	for _, r := range premature() {
		c.Add(r)
		if r.Class != OK {
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
