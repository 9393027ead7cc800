package plot

import (
	"math"

	"github.com/servebench/servebench/metrics/numpy"
)

// thin keeps at most n points of a line that preserve its shape: the first, the last, and in each
// part between them the point that spans the largest triangle with the previously kept point and
// the mean of the next part. See S. Steinarsson, Downsampling Time Series for Visual
// Representation, University of Iceland, 2013, section 4.2 (largest triangle three buckets). Points
// are in order of x and all known; n is 3 or more.
func thin(x, y []float64, n int) (Numbers, Numbers) {
	if len(x) <= n {
		return x, y
	}
	keptX, keptY := make(Numbers, 0, n), make(Numbers, 0, n)
	keep := func(i int) { keptX, keptY = append(keptX, x[i]), append(keptY, y[i]) }
	// The points between first and last, in n−2 parts.
	edge := func(part int) int { return 1 + part*(len(x)-2)/(n-2) }
	keep(0)
	for part, before := 0, 0; part < n-2; part++ {
		from, to, end := edge(part), edge(part+1), min(edge(part+2), len(x))
		if part == n-3 {
			end = len(x)
		}
		nextX, nextY := numpy.Mean(x[to:end]), numpy.Mean(y[to:end])
		best, largest := from, -1.0
		for i := from; i < to; i++ {
			area := math.Abs((x[before]-nextX)*(y[i]-y[before]) - (x[before]-x[i])*(nextY-y[before]))
			if area > largest {
				best, largest = i, area
			}
		}
		keep(best)
		before = best
	}
	keep(len(x) - 1)
	return keptX, keptY
}
