// Package numpy has the statistics of numpy, equal to the last bit: sums are pairwise, and percentiles
// interpolate linearly.
package numpy

import "math"

// Mean is the arithmetic mean as numpy.mean computes it, bit for bit: a
// pairwise sum over n. It is NaN for no values.
func Mean(values []float64) float64 {
	return Sum(values) / float64(len(values))
}

// Std is the population standard deviation (ddof 0) as numpy.std computes it.
// It is NaN for no values.
func Std(values []float64) float64 {
	return math.Sqrt(deviations(values, Mean(values)) / float64(len(values)))
}

// SampleStd is the sample standard deviation (ddof 1): Std times √(n/(n−1)). It is
// NaN for fewer than two values.
func SampleStd(values []float64) float64 {
	n := float64(len(values))
	return Std(values) * math.Sqrt(n/(n-1))
}

// Median is the median as numpy.median computes it. The values must be in
// ascending order. It is NaN for no values.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return Mean(sorted[(n-1)/2 : n/2+1])
}

// Percentile interpolates linearly at rank p/100·(n−1), as numpy.percentile
// does by default, bit for bit. The values must be in ascending order and p
// from 0 to 100. It is NaN for no values.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return AtRank(sorted, p/100*float64(len(sorted)-1))
}

// AtRank is the value at a rank from 0 on, which may lie between two of the values.
func AtRank(sorted []float64, rank float64) float64 {
	below := int(rank)
	if below >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return Between(sorted[below], sorted[below+1], rank-float64(below))
}

// Between is the value at t of the way from a to b.
func Between(a, b, t float64) float64 {
	// Interpolating from the nearer end is numpy's way to be monotonic.
	if t >= 0.5 {
		return b - float64((b-a)*(1-t))
	}
	return a + float64((b-a)*t)
}

// pairwiseBlock is the length up to which numpy sums with eight accumulators instead of halving
// again.
const pairwiseBlock = 128

// Sum adds up in the order that numpy uses on contiguous doubles.
func Sum(v []float64) float64 {
	n := len(v)
	if n > pairwiseBlock {
		half := n / 2
		half -= half % 8
		return Sum(v[:half]) + Sum(v[half:])
	}
	sum, rest := 0.0, v
	if n >= 8 {
		r := [8]float64(v)
		for rest = v[8:]; len(rest) >= 8; rest = rest[8:] {
			for i := range r {
				r[i] += rest[i]
			}
		}
		sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	}
	for _, x := range rest {
		sum += x
	}
	return sum
}

// deviations adds up the squares of the differences from mean, in the order of Sum.
func deviations(values []float64, mean float64) float64 {
	if n := len(values); n > pairwiseBlock {
		half := n / 2
		half -= half % 8
		return deviations(values[:half], mean) + deviations(values[half:], mean)
	}
	var block [pairwiseBlock]float64
	for i, v := range values {
		block[i] = (v - mean) * (v - mean)
	}
	return Sum(block[:len(values)])
}
