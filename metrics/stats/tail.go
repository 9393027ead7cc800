package stats

import "math"

// MinBeyond is how many values must be above a percentile that decides something. The number above
// the true percentile varies by its square root: ten vary by a third.
const MinBeyond = 10

// A TailSize says how many values a percentile rests on.
type TailSize struct {
	Metric     string // one of Metrics
	Percentile float64
	N          int // values in all
}

// tailShare is the share of values beyond the p-th percentile, on the side with fewer.
func tailShare(p float64) float64 { return min(p, 100-p) / 100 }

// Beyond is how many of the values are beyond the percentile: n·(1−p/100), or n·p/100 below the
// median.
func (s TailSize) Beyond() float64 {
	// Rounded, since 100 − 99.9 is a little less than 0.1.
	const precision = 1e9
	return math.Round(float64(s.N)*tailShare(s.Percentile)*precision) / precision
}

// Few says that nothing should be decided by the percentile. The least and the largest value are
// exact, however few values there are.
func (s TailSize) Few() bool {
	return s.Percentile > 0 && s.Percentile < 100 && s.Beyond() < MinBeyond
}

// ValuesNeeded is how many values are needed for MinBeyond of them to be beyond the p-th
// percentile, p above 0 and below 100.
func ValuesNeeded(p float64) int {
	const precision = 1e6
	return int(math.Ceil(math.Round(MinBeyond/tailShare(p)*precision) / precision))
}
