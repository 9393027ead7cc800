package tally

import (
	"slices"
	"testing"
	"time"
)

func TestMovedSecondsGoToTheNearest(t *testing.T) {
	for later, want := range map[time.Duration][]int{400 * time.Millisecond: {3, 4, 2}, 600 * time.Millisecond: {1, 5, 3}, -600 * time.Millisecond: {2, 2, 3, 2}} {
		b, other := Seconds{0, []int{1, 3, 2}, []int{1, 3, 2}}, Seconds{0, []int{2, 1}, []int{2, 1}}
		b.merge(&other, later)
		if !slices.Equal(b.chunks, want) || !slices.Equal(b.requests, want) || b.origin != min(0, later.Seconds()) {
			t.Errorf("%v later: %v and %v from %v, want %v", later, b.chunks, b.requests, b.origin, want)
		}
	}
	var none []int
	if addFrom(&none, maxBuckets, []int{1}); none != nil {
		t.Errorf("%d seconds", len(none))
	}
}
