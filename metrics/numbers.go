package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics/numpy"
)

// The range of the histograms in nanoseconds, and their precision in digits.
const (
	histLowest  = int64(time.Microsecond)
	histHighest = int64(8 * time.Hour)
	histDigits  = 3
)

// NewHistogram makes a histogram for a Distribution: nanoseconds from 1 µs to 8 h, to three digits
// or half a microsecond, whichever is more. Recording a value within that range does not fail.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(histLowest, histHighest, histDigits)
}

// countedPercentile is the p-th percentile of the histogram's values, in nanoseconds.
func countedPercentile(h *hdrhistogram.Histogram, p float64) float64 {
	return countedAtRank(h, p/100*float64(h.TotalCount()-1))
}

// countedAtRank is the value at a rank from 0 to n−1 of the n values that h counted, in
// nanoseconds. Between two ranks it interpolates linearly, as numpy.percentile does. It is off by
// at most the width of a bar of h, a thousandth of the value or half a microsecond. HdrHistogram's
// percentiles take the nearest counted value, which differs if there are few values.
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
			high = low // no value follows the last
		}
		if next := below + 1; next >= seen && next < seen+bar.Count {
			high = within(bar, next-seen)
			break
		}
		seen += bar.Count
	}
	return numpy.Between(low, high, rank-float64(below))
}

// within is the i-th value of a bar, if its values were spread evenly.
func within(bar hdrhistogram.Bar, i int64) float64 {
	width := float64(bar.To-bar.From) + 1
	return float64(bar.From) + float64((float64(i)+0.5)/float64(bar.Count)*width)
}

// FormatFloat writes v as Python's repr does: the shortest digits that read back as v, always with
// a point or an exponent: 20.0, 1e-09, 1e+16, inf, nan.
func FormatFloat(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case math.IsNaN(v):
		return "nan"
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Readable writes a number for people, with so many decimals, and from a thousand million on in a short
// form: 41.25, 1.00e+308, infinite, unknown.
func Readable(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "unknown"
	case math.IsInf(v, 1):
		return "infinite"
	case math.IsInf(v, -1):
		return "−infinite"
	case math.Abs(v) >= unreadable:
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// unreadable is the least number with too many digits to read. No latency or rate of a server comes near.
const unreadable = 1e9

// FormatPercentile writes p as vLLM labels it: without a point if it is whole.
func FormatPercentile(p float64) string {
	return strings.TrimSuffix(FormatFloat(p), ".0")
}

// Counted writes a number of things: 1 line, 2 lines.
func Counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Milliseconds is d in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// By groups things by key. The keys are in the order in which they first occur.
func By[K comparable, T any](all []T, key func(T) K) (keys []K, by map[K][]T) {
	by = map[K][]T{}
	for _, thing := range all {
		k := key(thing)
		if by[k] == nil {
			keys = append(keys, k)
		}
		by[k] = append(by[k], thing)
	}
	return keys, by
}

// Distinct removes duplicates from all and keeps each first occurrence.
func Distinct[T comparable](all []T) []T {
	distinct, _ := By(all, func(one T) T { return one })
	return distinct
}

// ByCount are the keys of counts, the largest count first.
func ByCount[K cmp.Ordered](counts map[K]int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// Share is d divided by n, 0 for n = 0.
func Share(d time.Duration, n int) time.Duration {
	if n <= 0 {
		return 0
	}
	return d / time.Duration(n)
}
