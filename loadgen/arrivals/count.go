package arrivals

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/metrics"
)

// Count is how many requests fill the time d. With a Curve, it counts the requests due by then.
// With a rate or a ramp, times depend on the number of requests: Count is the smallest number whose
// last request is due at d or later, on average if gaps are not stretched.
func (a Process) Count(d time.Duration) (int, error) {
	if err := a.check(); err != nil {
		return 0, err
	}
	if a.Curve != nil {
		return a.countAlong(d)
	}
	rate := a.Rate
	if a.RampUp != nil {
		rate = rampMean(a.RampUp)
	}
	n := math.Ceil(float64(rate * d.Seconds()))
	if n > maxRequests {
		return 0, tooMany(d)
	}
	return int(n), nil
}

func (a Process) countAlong(d time.Duration) (n int, err error) {
	end, reached := a.Curve.requests(d.Seconds()), 0.0
	if end > maxRequests {
		return 0, tooMany(d)
	}
	for gap := range a.gaps(math.MaxInt) {
		if reached += gap; reached > end {
			break
		}
		n++
	}
	return n, nil
}

func tooMany(d time.Duration) error { return fmt.Errorf("more than %d requests in %s", maxRequests, d) }

// rampMean is a ramp's number of requests divided by their time: the harmonic mean of its rates,
// which follow the index.
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
