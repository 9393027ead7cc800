package metrics

import (
	"cmp"
	"iter"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics/numpy"
)

// DefaultCap is the default number of exact values that a Distribution keeps: 80 MB of them.
const DefaultCap = 10_000_000

// A Distribution holds the values of one latency: all of them exactly, up to a limit, and an HDR
// histogram of them. Beyond the limit it drops the exact values and computes statistics from the
// histogram. Values go in as seconds, as vLLM's client measures; statistics come out in
// milliseconds, as it prints them. A Distribution read from a file may hold statistics without
// values. The zero value is empty; it is not safe for concurrent use.
type Distribution struct {
	limit    int    // most exact values kept; 0 means DefaultCap
	expected int    // exact values to make room for with the first; 0: unknown
	each     bool   // one value comes from each request: see PerRequest
	Rough    bool   // the values themselves are estimates
	Quoted   *Quote // statistics that a file gives, used instead of computed ones; nil for none

	exact   exact
	over    bool // exact values were dropped
	hist    *hdrhistogram.Histogram
	clamped int
}

// PerRequest is an empty Distribution of an Aspect, for one value of each request: it keeps as many exactly as a
// Collector keeps requests, and a Collector makes room for as many as it expects.
func PerRequest() Distribution { return Distribution{limit: RequestCap, each: true} }

// A Quote is the statistics of a latency as a file gives them, in milliseconds. A statistic that
// the file does not give is NaN, or has no entry in Percentiles.
type Quote struct {
	Mean, Median, Std float64
	Percentiles       map[float64]float64

	Values int // that the statistics are of; 0 if the file does not say

	// Empty is the value of every other statistic if the Distribution has no values: NaN, or 0 if
	// the file says that there are none.
	Empty float64
}

// NewQuote is a Quote without any statistic.
func NewQuote() *Quote {
	nan := math.NaN()
	return &Quote{Mean: nan, Median: nan, Std: nan, Percentiles: map[float64]float64{}, Empty: nan}
}

// FromHistogram is a Distribution that only has a histogram, in nanoseconds. It is empty for nil.
// The caller keeps h.
func FromHistogram(h *hdrhistogram.Histogram) Distribution {
	var d Distribution
	if h != nil && h.TotalCount() > 0 {
		d.adopt(h)
	}
	return d
}

// Add adds one value, in seconds. The histogram covers 0 to 8 h; it counts a value outside at the
// nearest end.
func (d *Distribution) Add(seconds float64) {
	if d.hist == nil {
		d.hist = NewHistogram()
	}
	ns := int64(0)
	switch {
	case seconds >= 0 && seconds <= time.Duration(histHighest).Seconds():
		ns = int64(math.Round(seconds * 1e9))
	case seconds > 0:
		ns = histHighest
		d.clamped++
	default:
		d.clamped++
	}
	// It is in range, so this cannot fail.
	_ = d.hist.RecordValue(ns)

	if d.over {
		return
	}
	if len(d.exact.values) >= cmp.Or(d.limit, DefaultCap) {
		d.Drop()
		return
	}
	if d.exact.values == nil && d.expected > 0 {
		d.exact.values = make([]float64, 0, d.expected)
	}
	d.exact.values = append(d.exact.values, seconds)
}

// AddRepeated adds one value n times, to the histogram only.
func (d *Distribution) AddRepeated(v time.Duration, n int) {
	if d.hist == nil {
		d.hist = NewHistogram()
		d.over = true
	}
	within := min(max(int64(v), 0), histHighest)
	if within != int64(v) {
		d.clamped += n
	}
	// It is in range, so this cannot fail.
	_ = d.hist.RecordValues(within, int64(n))
}

// Drop drops the exact values and keeps the histogram.
func (d *Distribution) Drop() {
	d.exact.drop()
	d.over = true
}

// condense drops the values and keeps their statistics, with the given percentiles.
func (d *Distribution) condense(percentiles []float64) {
	if len(d.exact.values) == 0 {
		return
	}
	q := NewQuote()
	q.Mean, q.Median, q.Std = d.Mean(), d.Median(), d.Std()
	for _, p := range percentiles {
		q.Percentiles[p] = d.Percentile(p)
	}
	d.exact.drop()
	d.Quoted = q
}

// adopt adds the values of another histogram. It drops exact values, since the others have none.
func (d *Distribution) adopt(h *hdrhistogram.Histogram) {
	if d.hist == nil {
		d.hist = NewHistogram()
	}
	d.clamped += int(d.hist.Merge(h))
	d.Drop()
}

// Merge adds the values of another after the values of d, which takes over its cap if it has none.
// Beyond the cap, or if one of the two has no exact values, only the histogram remains.
func (d *Distribution) Merge(other *Distribution) {
	d.limit = cmp.Or(d.limit, other.limit)
	d.clamped += other.clamped
	if other.Len() == 0 {
		return
	}
	if d.hist == nil {
		d.hist = NewHistogram()
	}
	d.hist.Merge(other.hist)
	if d.over || other.over || len(d.exact.values)+len(other.exact.values) > cmp.Or(d.limit, DefaultCap) {
		d.Drop()
		return
	}
	d.exact.values = append(d.exact.values, other.exact.values...)
}

// Instead is a new Distribution: d with the values of in instead of the values of out, which are some of d's. It is
// exact if all three are.
func (d *Distribution) Instead(out, in *Distribution) *Distribution {
	if len(d.exact.values) == 0 || len(out.exact.values) < out.Len() || len(in.exact.values) < in.Len() {
		h, gone := NewHistogram(), map[int64]int64{}
		for _, bar := range out.hist.Distribution() {
			gone[bar.From] = bar.Count
		}
		for _, bar := range d.hist.Distribution() {
			_ = h.RecordValues(bar.From, max(0, bar.Count-gone[bar.From])) // it is in range, so this cannot fail
		}
		h.Merge(in.hist)
		changed := FromHistogram(h)
		return &changed
	}
	changed, gone := &Distribution{exact: exact{values: make([]float64, 0, len(d.exact.values))}}, out.exact.ascending()
	for _, v := range d.exact.ascending() {
		for len(gone) > 0 && gone[0] < v {
			gone = gone[1:]
		}
		if len(gone) > 0 && gone[0] == v {
			gone = gone[1:]
			continue
		}
		changed.exact.values = append(changed.exact.values, v)
	}
	changed.exact.values = append(changed.exact.values, in.exact.values...)
	return changed
}

// Len is the number of values; 0 if only statistics are known.
func (d *Distribution) Len() int {
	if d.hist == nil {
		return 0
	}
	return int(d.hist.TotalCount())
}

// Approximate reports whether computed statistics are estimates: from the histogram, or from values
// that are estimates.
func (d *Distribution) Approximate() bool { return d.over || d.Rough }

// Histogram is the HDR histogram in nanoseconds, nil if there are no values. It keeps changing with
// the Distribution, and the caller must not change it.
func (d *Distribution) Histogram() *hdrhistogram.Histogram { return d.hist }

// Mean is the mean in milliseconds. Like all statistics here it is 0 if there are no values, as in
// vLLM, and NaN if it was read from a file that does not have it.
func (d *Distribution) Mean() float64 {
	if d.Quoted != nil && !math.IsNaN(d.Quoted.Mean) {
		return d.Quoted.Mean
	}
	return d.statistic(d.exact.mean, func() float64 { return d.hist.Mean() })
}

// Std is the population standard deviation in milliseconds.
func (d *Distribution) Std() float64 {
	if d.Quoted != nil && !math.IsNaN(d.Quoted.Std) {
		return d.Quoted.Std
	}
	return d.statistic(d.exact.std, func() float64 { return d.hist.StdDev() })
}

// Median is the median in milliseconds.
func (d *Distribution) Median() float64 {
	if d.Quoted != nil && !math.IsNaN(d.Quoted.Median) {
		return d.Quoted.Median
	}
	return d.statistic(
		func() float64 { return numpy.Median(d.exact.ascending()) },
		func() float64 { return countedPercentile(d.hist, 50) })
}

// Percentile is the p-th percentile in milliseconds, p from 0 to 100.
func (d *Distribution) Percentile(p float64) float64 {
	if d.Quoted != nil {
		if v, ok := d.Quoted.Percentiles[p]; ok {
			return v
		}
	}
	return d.statistic(
		func() float64 { return numpy.Percentile(d.exact.ascending(), p) },
		func() float64 { return countedPercentile(d.hist, p) })
}

// statistic computes from the exact values, in seconds, or else from the histogram, in nanoseconds.
func (d *Distribution) statistic(exact func() float64, approximate func() float64) float64 {
	switch {
	case len(d.exact.values) > 0:
		return exact() * 1000
	case d.over:
		return approximate() / float64(time.Millisecond)
	case d.Quoted != nil:
		return d.Quoted.Empty
	}
	return 0
}

// Values yields the values in ascending order, in seconds, and how often each is there. Without
// exact values they are the middles of the histogram's bars.
func (d *Distribution) Values() iter.Seq2[float64, int] {
	return func(yield func(float64, int) bool) {
		for _, v := range d.exact.ascending() {
			if !yield(v, 1) {
				return
			}
		}
		if len(d.exact.values) > 0 || d.hist == nil {
			return
		}
		for _, bar := range d.hist.Distribution() {
			if bar.Count > 0 && !yield(within(bar, bar.Count/2)/1e9, int(bar.Count)) {
				return
			}
		}
	}
}
