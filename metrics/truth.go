package metrics

import (
	"math"
	"time"

	"github.com/servebench/servebench/metrics/course"
	"github.com/servebench/servebench/metrics/tally"
)

// Truth is what the definitions of a Summary's numbers leave out. An unknown number is 0.
type Truth struct {
	// PeakConcurrency is the most measured requests in flight at one instant, from Sent to
	// End, and MeanConcurrency their mean over the run's duration.
	PeakConcurrency int
	MeanConcurrency float64
	// Busy is the time in which any measured request was in flight.
	Busy time.Duration

	LaterTurns bool // conversations went on after their first turn

	// Course is how latencies went over the run; nil if the times of its requests are unknown.
	Course *course.Course
}

// course judges the answers of the run; nil if their times are unknown. Unless the load was even, latencies may
// change with it. In a closed loop the first requests start at once, and fewer others run next to the last ones.
func (w *witness) course(config *Config, answers []tally.Answer) *course.Course {
	switch {
	case len(answers) == 0:
		return nil
	case !config.steady() || w.truth.LaterTurns:
		return new(course.Course)
	case math.IsInf(config.RequestRate, 1):
		return course.Of(answers, config.MaxConcurrency)
	}
	return course.Of(answers, 0)
}

// steady reports that the load is the same throughout the run: requests at one rate, or in a number of slots.
func (c *Config) steady() bool {
	closed := math.IsInf(c.RequestRate, 1)
	switch {
	case c.RampUp != nil || c.SelfTimed || c.RateCurve != "" || c.MaxSessions > 0 || c.Whole:
		return false
	case closed:
		return c.MaxConcurrency > 0 && !c.Paced()
	}
	return true
}
