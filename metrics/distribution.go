package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// DefaultCap is how many exact values a Distribution keeps unless told
// otherwise: 80 MB of them.
const DefaultCap = 10_000_000

// A Distribution holds the values of one latency: all of them exactly, up to
// a limit, and an HDR histogram of them. Past that the exact values are dropped
// and its statistics come from the histogram. Values go in as seconds, the way
// vLLM's client measures; statistics come out in milliseconds, the way it
// prints them. A Distribution read from a file may hold statistics without
// values. The zero value is empty; it is not safe for concurrent use.
type Distribution struct {
	limit  int    // exact values kept at most; 0 means DefaultCap
	Rough  bool   // the values themselves are estimates
	Quoted *Quote // statistics that a file gives: they go before anything computed; nil for none

	exact   []float64 // in the order added
	sorted  []float64 // made when first needed
	hist    *hdrhistogram.Histogram
	clamped int
	over    bool  // exact values were dropped
	gaps    bool  // they are gaps between chunks, several of each request
	ends    []int // of gaps in exact: after each request's; nil where that is not known
}

// A Quote is the statistics of a latency as a file gives them, in milliseconds. Of a
// statistic that the file does not give it has NaN, or no entry in Percentiles.
type Quote struct {
	Mean, Median, Std float64
	Percentiles       map[float64]float64

	// Empty is what any other statistic is where the Distribution has no values: NaN,
	// or 0 when the file says that there are none.
	Empty float64
}

// NewQuote is a Quote that gives nothing.
func NewQuote() *Quote {
	nan := math.NaN()
	return &Quote{Mean: nan, Median: nan, Std: nan, Percentiles: map[float64]float64{}, Empty: nan}
}

// FromHistogram is the Distribution of values of which only a histogram is
// left, in nanoseconds. It is empty for nil, and h stays the caller's.
func FromHistogram(h *hdrhistogram.Histogram) Distribution {
	var d Distribution
	if h != nil && h.TotalCount() > 0 {
		d.adopt(h)
	}
	return d
}

// Add takes one value, in seconds. The histogram covers 0 to 8 h; a value
// outside is counted there at the nearest end.
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
	// In range by now, so this cannot fail.
	_ = d.hist.RecordValue(ns)

	if d.over {
		return
	}
	if len(d.exact) >= d.cap() {
		d.drop()
		return
	}
	d.exact = append(d.exact, seconds)
}

// addRepeated takes one value n times, into the histogram alone.
func (d *Distribution) addRepeated(v time.Duration, n int) {
	if d.hist == nil {
		d.hist = NewHistogram()
		d.over = true
	}
	within := min(max(int64(v), 0), histHighest)
	if within != int64(v) {
		d.clamped += n
	}
	// In range by now, so this cannot fail.
	_ = d.hist.RecordValues(within, int64(n))
}

func (d *Distribution) cap() int {
	if d.limit > 0 {
		return d.limit
	}
	return DefaultCap
}

// drop lets the exact values go and leaves the histogram.
func (d *Distribution) drop() {
	d.exact, d.sorted, d.ends, d.over = nil, nil, nil, true
}

// condense lets go of the values and keeps their statistics, of percentiles those
// given.
func (d *Distribution) condense(percentiles []float64) {
	if len(d.exact) == 0 {
		return
	}
	q := NewQuote()
	q.Mean, q.Median, q.Std = d.Mean(), d.Median(), d.Std()
	for _, p := range percentiles {
		q.Percentiles[p] = d.Percentile(p)
	}
	d.exact, d.sorted, d.ends, d.Quoted = nil, nil, nil, q
}

// adopt adds the values that another histogram counted. Exact ones are dropped,
// since the others are not to be had.
func (d *Distribution) adopt(h *hdrhistogram.Histogram) {
	if d.hist == nil {
		d.hist = NewHistogram()
	}
	d.clamped += int(d.hist.Merge(h))
	d.drop()
}

// merge adds the values of another after those of d, which takes its cap if it has
// none itself. Past the cap, or where one of the two has no exact ones, the histogram
// alone is left.
func (d *Distribution) merge(other *Distribution) {
	d.limit = cmp.Or(d.limit, other.limit)
	d.clamped += other.clamped
	if other.Len() == 0 {
		return
	}
	if d.hist == nil {
		d.hist = NewHistogram()
	}
	d.hist.Merge(other.hist)
	if d.over || other.over || len(d.exact)+len(other.exact) > d.cap() {
		d.drop()
		return
	}
	d.exact = append(d.exact, other.exact...)
}

// Len is how many values there are; 0 when only statistics are known.
func (d *Distribution) Len() int {
	if d.hist == nil {
		return 0
	}
	return int(d.hist.TotalCount())
}

// Approximate says whether statistics that the file did not give are
// estimates: they came from the histogram, or from values that are estimates.
func (d *Distribution) Approximate() bool { return d.over || d.Rough }

// Histogram is the HDR histogram in nanoseconds, nil when there are no values.
// It goes on changing with the Distribution and is not the caller's to change.
func (d *Distribution) Histogram() *hdrhistogram.Histogram { return d.hist }

// Mean is the mean in milliseconds. Like all statistics here it is 0 when there
// are no values, as in vLLM, and NaN when a file was read that does not tell.
func (d *Distribution) Mean() float64 {
	if d.Quoted != nil && !math.IsNaN(d.Quoted.Mean) {
		return d.Quoted.Mean
	}
	return d.statistic(Mean, func() float64 { return d.hist.Mean() })
}

// Std is the population standard deviation in milliseconds.
func (d *Distribution) Std() float64 {
	if d.Quoted != nil && !math.IsNaN(d.Quoted.Std) {
		return d.Quoted.Std
	}
	return d.statistic(std, func() float64 { return d.hist.StdDev() })
}

// Median is the median in milliseconds.
func (d *Distribution) Median() float64 {
	if d.Quoted != nil && !math.IsNaN(d.Quoted.Median) {
		return d.Quoted.Median
	}
	return d.statistic(
		func([]float64) float64 { return Median(d.ascending()) },
		func() float64 { return d.counted(50) })
}

// Percentile is the p-th percentile in milliseconds, p from 0 to 100.
func (d *Distribution) Percentile(p float64) float64 {
	if d.Quoted != nil {
		if v, ok := d.Quoted.Percentiles[p]; ok {
			return v
		}
	}
	return d.statistic(
		func([]float64) float64 { return Percentile(d.ascending(), p) },
		func() float64 { return d.counted(p) })
}

// counted is the p-th percentile of what the histogram counted, in nanoseconds.
func (d *Distribution) counted(p float64) float64 {
	return countedAtRank(d.hist, p/100*float64(d.Len()-1))
}

// statistic computes from the exact values, in seconds, or else from the
// histogram, in nanoseconds.
func (d *Distribution) statistic(exact func([]float64) float64, approximate func() float64) float64 {
	switch {
	case len(d.exact) > 0:
		return exact(d.exact) * 1000
	case d.over:
		return approximate() / float64(time.Millisecond)
	case d.Quoted != nil:
		return d.Quoted.Empty
	}
	return 0
}

func (d *Distribution) ascending() []float64 {
	if len(d.sorted) != len(d.exact) {
		d.sorted = slices.Sorted(slices.Values(d.exact))
	}
	return d.sorted
}
