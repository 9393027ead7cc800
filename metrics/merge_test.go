package metrics

import (
	stdcmp "cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/record"
)

// bounded gives each of so many Collectors its part of the records, and merges them
// where there are several.
func bounded(records []*record.Record, parts, most int) *Collector {
	whole := NewCollector(&Header{}, endKind)
	whole.Cap = most
	for part := range parts {
		c := NewCollector(&Header{}, endKind)
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

// Whether exact values are kept depends on how many there are, and not on how they
// lie in shards.
func TestShardsAreKnownAsExactlyAsOneRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	spoken := allSorts(120)
	single := allSorts(120)
	for _, r := range single {
		if r.Result.Class == record.OK {
			*r = *arrived(record.Record{Index: r.Index, Times: record.Times{Due: r.Times.Due, Slot: r.Times.Slot, Sent: r.Times.Sent, Wrote: r.Times.Sent}, Tokens: record.Tokens{Out: 1}}, Milliseconds(r.Times.Sent)+20)
		}
	}
	// Longer than a histogram reaches, one a part.
	for i := range 3 {
		spoken[i] = arrived(record.Record{Index: i, Times: record.Times{Sent: time.Minute, Wrote: time.Minute}, Tokens: record.Tokens{Out: 2}}, 9*3.6e6, 18*3.6e6)
	}
	for name, records := range map[string][]*record.Record{"many chunks": spoken, "one chunk": single} {
		slices.SortStableFunc(records, func(a, b *record.Record) int { return stdcmp.Compare(a.Times.Sent, b.Times.Sent) })
		for _, most := range []int{1, 79, 105, 119, 120, 2000, 10_000} {
			whole, merged := bounded(records, 1, most), bounded(records, 3, most)
			want, got := whole.Summary(12), merged.Summary(12)
			of, latencies := want.latencies(), got.latencies()
			of["ends"], latencies["ends"] = &View[endTimes](want).ends, &View[endTimes](got).ends
			for metric, g := range latencies {
				w := of[metric]
				if g.over != w.over || len(g.exact.values) != len(w.exact.values) || g.Len() != w.Len() || g.clamped != w.clamped || g.hist != nil && !g.hist.Equals(w.hist) {
					t.Errorf("%s of %s up to %d: %d exact of %d, %d clamped; want %d, %d, %d",
						metric, name, most, len(g.exact.values), g.Len(), g.clamped, len(w.exact.values), w.Len(), w.clamped)
				}
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(want.Ending.Warnings)), slices.Sorted(slices.Values(got.Ending.Warnings))); diff != "" {
				t.Errorf("%s up to %d: %s", name, most, diff)
			}
			if merged.timeline.Folded() != whole.timeline.Folded() || folded(merged) != folded(whole) {
				t.Errorf("%s up to %d: folded differently", name, most)
			}
			if math.Abs(got.Rates.PeakOutput-want.Rates.PeakOutput) > 0.2*want.Rates.PeakOutput || math.Abs(float64(got.Rates.PeakConcurrent-want.Rates.PeakConcurrent)) > 0.2*float64(want.Rates.PeakConcurrent) ||
				got.Truth.MeanConcurrency != want.Truth.MeanConcurrency {
				t.Errorf("%s up to %d: peaks %v and %d, want %v and %d", name, most, got.Rates.PeakOutput, got.Rates.PeakConcurrent, want.Rates.PeakOutput, want.Rates.PeakConcurrent)
			}
		}
	}
}

// allSorts are requests of all sorts on the run's clock.
func allSorts(n int) []*record.Record {
	records := requests(n)
	for i, r := range records {
		r.Run = "r"
		switch {
		case i%17 == 3:
			records[i] = &record.Record{Run: "r", Index: r.Index, Attempts: 3 + i%2, Reconnects: i % 2, Times: record.Times{Due: r.Times.Due, Slot: r.Times.Slot, Sent: r.Times.Sent, End: r.Times.Sent + 5*msec}, Result: record.Result{Class: record.Status, Status: 500 + i%2, Error: fmt.Sprint("no ", i%3)}}
			continue
		case i%11 == 5:
			r.Phase = record.WarmUp
		case i%13 == 7:
			r.Turn = 1
		}
		r.Times.Wrote, r.Times.FirstContent, r.Times.End = r.Times.Sent+msec/3, r.Answer.Chunks.First(), r.Times.Last+msec/2
		r.Tokens.OutAsked, r.Answer.Finish = r.Tokens.Out+i%3-1, []string{"length", "stop", ""}[i%3]
		r.Conn, r.Answer.MaxAge = record.Conn{New: i%5 == 0, Connect: msec}, msec/7
	}
	return records
}
