package metrics

import (
	"slices"

	"github.com/servebench/servebench/metrics/numpy"
)

// exact are the values of a Distribution one by one, in seconds.
type exact struct {
	values  []float64 // in the order added, until settled
	sorted  []float64 // made when first needed
	settled *moments  // of the values before settle sorted them; nil for values in the order added
	gaps    bool      // they are gaps between chunks, several of each request
	ends    []int     // for gaps: the index after each request's gaps; nil if unknown
}

// moments are statistics that depend on the order of the values, in their last digits.
type moments struct{ mean, std float64 } // in seconds

// drop drops the values. If they were gaps, further ones are, too.
func (e *exact) drop() { *e = exact{gaps: e.gaps} }

func (e *exact) mean() float64 {
	if e.settled != nil {
		return e.settled.mean
	}
	return numpy.Mean(e.values)
}

func (e *exact) std() float64 {
	if e.settled != nil {
		return e.settled.std
	}
	return numpy.Std(e.values)
}

func (e *exact) ascending() []float64 {
	if len(e.sorted) != len(e.values) {
		e.sorted = slices.Sorted(slices.Values(e.values))
	}
	return e.sorted
}

// settle sorts the values in place instead of in a copy. No more can be added. Gaps stay in the
// order of their requests, and get a copy.
func (e *exact) settle() {
	if e.gaps || len(e.values) == 0 || e.settled != nil {
		e.ascending()
		return
	}
	e.settled = &moments{numpy.Mean(e.values), numpy.Std(e.values)}
	slices.Sort(e.values)
	e.sorted = e.values
}

// independent is how many independent values say as much about the p-th percentile as all values of the
// Distribution; 0 if unknown.
func (e *exact) independent(p float64, all int) int {
	if !e.gaps {
		return all
	}
	requests, n := len(e.ends), len(e.values)
	if requests == 0 || n == 0 {
		return 0
	}
	limit := numpy.Percentile(e.ascending(), p)
	below := make([]int, requests) // gaps up to the percentile, by request
	low, from := 0, 0
	for i, end := range e.ends {
		for _, gap := range e.values[from:end] {
			if gap <= limit {
				below[i]++
			}
		}
		low += below[i]
		from = end
	}
	share, total := float64(low)/float64(n), float64(n)
	variance := 0.0 // of the share, by requests
	from = 0
	for i, end := range e.ends {
		off := (float64(below[i])*total - float64(low)*float64(end-from)) / (total * total)
		variance += off * off
		from = end
	}
	if variance == 0 {
		// None is beyond, or all requests are alike: the gaps of a request look independent.
		return requests
	}
	variance *= float64(requests) / float64(requests-1)
	return int(min(max(share*(1-share)/variance, 1), total))
}
