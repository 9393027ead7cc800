package compare

import "math"

// A Gate says what makes a set of runs worse than another one. The zero value
// gates nothing; DefaultGate is what most want.
type Gate struct {
	Alpha   float64 // chance of a false alarm over all limits together; 0 means 0.05
	Limits  []Limit
	Allowed float64 // share of requests that may fail without the run counting as failed, 0 to 1
}

// A Limit gates one metric.
type Limit struct {
	Metric   Metric
	Relative float64  // a change for the worse by less than this share does not matter
	Absolute float64  // nor one by less than this, in the metric's unit
	Ceiling  *float64 // the median of new runs must not be above; nil for no such bound
	Floor    *float64 // nor below
}

// UsualMargin is the share by which a number may get worse without mattering.
const UsualMargin = 0.05

// DefaultGate gates output throughput, median TTFT and median TPOT, and lets no
// request fail.
func DefaultGate() Gate {
	var g Gate
	for _, name := range []string{"output_throughput", "median_ttft", "median_tpot"} {
		m, _ := Find(name)
		g.Limits = append(g.Limits, Limit{Metric: m, Relative: UsualMargin})
	}
	return g
}

func (g *Gate) alpha() float64 {
	if g.Alpha == 0 {
		return 0.05
	}
	return g.Alpha
}

// limit is the gate's on a metric, nil without one.
func (g *Gate) limit(name string) *Limit {
	for i := range g.Limits {
		if g.Limits[i].Metric.Name == name {
			return &g.Limits[i]
		}
	}
	return nil
}

// matters says whether a change, as a share of the old value, is for the worse and
// more than the margins.
func (l *Limit) matters(old, change float64) bool {
	if l.Metric.Higher {
		change = -change
	}
	return change > l.Relative && change*math.Abs(old) > l.Absolute
}

// broken says which absolute bound a median breaks, if any.
func (l *Limit) broken(median float64) (bound float64, ok bool) {
	switch {
	case l.Ceiling != nil && median > *l.Ceiling:
		return *l.Ceiling, true
	case l.Floor != nil && median < *l.Floor:
		return *l.Floor, true
	}
	return 0, false
}
