package metrics

import (
	stdcmp "cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bounded gives each of so many Collectors its part of the records, and merges them
// where there are several.
func bounded(records []*Record, parts, most int) *Collector {
	whole := NewCollector(&Header{})
	whole.Cap = most
	for part := range parts {
		c := NewCollector(&Header{})
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
	spoken := load(120)
	single := load(120)
	for _, r := range single {
		if r.Class == OK {
			*r = *arrived(Record{Index: r.Index, Due: r.Due, Slot: r.Slot, Sent: r.Sent, Wrote: r.Sent, Out: 1}, Milliseconds(r.Sent)+20)
		}
	}
	// Longer than a histogram reaches, one a part.
	for i := range 3 {
		spoken[i] = arrived(Record{Index: i, Sent: time.Minute, Wrote: time.Minute, Out: 2}, 9*3.6e6, 18*3.6e6)
	}
	for name, records := range map[string][]*Record{"many chunks": spoken, "one chunk": single} {
		slices.SortStableFunc(records, func(a, b *Record) int { return stdcmp.Compare(a.Sent, b.Sent) })
		for _, most := range []int{1, 79, 105, 119, 120, 2000, 10_000} {
			whole, merged := bounded(records, 1, most), bounded(records, 3, most)
			want, got := whole.Summary(12), merged.Summary(12)
			of := want.latencies(want.Truth)
			for metric, g := range got.latencies(got.Truth) {
				w := of[metric]
				if g.over != w.over || len(g.exact) != len(w.exact) || g.Len() != w.Len() || g.clamped != w.clamped || g.hist != nil && !g.hist.Equals(w.hist) {
					t.Errorf("%s of %s up to %d: %d exact of %d, %d clamped; want %d, %d, %d",
						metric, name, most, len(g.exact), g.Len(), g.clamped, len(w.exact), w.Len(), w.clamped)
				}
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(want.Warnings)), slices.Sorted(slices.Values(got.Warnings))); diff != "" {
				t.Errorf("%s up to %d: %s", name, most, diff)
			}
			if (merged.timeline.folded == nil) != (whole.timeline.folded == nil) || (merged.witness.inFlight.folded == nil) != (whole.witness.inFlight.folded == nil) {
				t.Errorf("%s up to %d: folded differently", name, most)
			}
			if math.Abs(got.PeakOutput-want.PeakOutput) > 0.2*want.PeakOutput || math.Abs(float64(got.PeakConcurrent-want.PeakConcurrent)) > 0.2*float64(want.PeakConcurrent) ||
				got.Truth.PeakTokens != want.Truth.PeakTokens || got.Truth.MeanConcurrency != want.Truth.MeanConcurrency {
				t.Errorf("%s up to %d: peaks %v and %d, want %v and %d", name, most, got.PeakOutput, got.PeakConcurrent, want.PeakOutput, want.PeakConcurrent)
			}
		}
	}
}
