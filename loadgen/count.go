package loadgen

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/metrics"
)

// Count is how many requests fill the time d. By a Curve they are those due until
// then. By a rate or a ramp, whose arrivals follow from the number of requests, they
// are the fewest of which the last is due at d or after it, on average where gaps
// are not stretched. It is math.MaxInt where all are due at once.
func (a Arrivals) Count(d time.Duration) (int, error) {
	if err := a.check(); err != nil {
		return 0, err
	}
	if a.Curve != nil {
		n, end, reached := 0, a.Curve.requests(d.Seconds()), 0.0
		for gap := range a.gaps(maxRequests) {
			if reached += gap; reached > end {
				return n, nil
			}
			n++
		}
		return 0, fmt.Errorf("more than %d requests in %s", maxRequests, d)
	}
	rate := a.Rate
	if a.RampUp != nil {
		rate = rampMean(a.RampUp)
	}
	switch n := math.Ceil(float64(rate * d.Seconds())); {
	case math.IsInf(rate, 1):
		return math.MaxInt, nil
	case n > maxRequests:
		return 0, fmt.Errorf("more than %d requests in %s", maxRequests, d)
	default:
		return int(n), nil
	}
}

// rampMean is the requests of a ramp over the time that they take: the harmonic
// mean of its rates, which are spread over the index.
func rampMean(r *metrics.RampUp) float64 {
	start, end := float64(r.Start), float64(r.End)
	logs := nprand.Log(end / start)
	switch {
	case start == end:
		return start
	case r.Strategy == "linear":
		return (end - start) / logs
	}
	return logs * start * end / (end - start)
}
