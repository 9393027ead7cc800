package metrics

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The histograms' range in nanoseconds, and their precision in digits.
const (
	histLowest  = int64(time.Microsecond)
	histHighest = int64(8 * time.Hour)
	histDigits  = 3
)

// NewHistogram makes a histogram as a Distribution has it: of nanoseconds from
// 1 µs to 8 h, to three digits or half a microsecond, whichever is more. Recording
// within that range does not fail.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(histLowest, histHighest, histDigits)
}

// countedAtRank is the value at a rank from 0 to n−1 of the n values that h
// counted, in nanoseconds. Between two ranks it interpolates linearly, as
// numpy.percentile does. It is off by the width of a bar of h at most, a thousandth
// of the value or half a microsecond. HdrHistogram's own percentiles take the nearest
// value that was counted: of few values that is another one.
func countedAtRank(h *hdrhistogram.Histogram, rank float64) float64 {
	below := int64(rank)
	var low, high float64
	seen := int64(0)
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		if below >= seen && below < seen+bar.Count {
			low = within(bar, below-seen)
			high = low // the last value has none behind it
		}
		if next := below + 1; next >= seen && next < seen+bar.Count {
			high = within(bar, next-seen)
			break
		}
		seen += bar.Count
	}
	return between(low, high, rank-float64(below))
}

// within is value i of those in a bar, had they been spread over it evenly.
func within(bar hdrhistogram.Bar, i int64) float64 {
	width := float64(bar.To-bar.From) + 1
	return float64(bar.From) + float64((float64(i)+0.5)/float64(bar.Count)*width)
}
