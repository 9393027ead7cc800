package compare

import (
	"math"
	"slices"
)

// A Gate says what makes a set of runs worse than another one. The zero value
// gates nothing but failures; DefaultGate is what most want. It is not changed by
// comparing.
type Gate struct {
	Alpha   float64            // chance of a false alarm over all limits together; 0 means 0.05
	Limits  []Limit            // one a metric
	Bounds  []Bound            // one a metric: what new runs may be, whatever the old ones are
	Allowed float64            // share of requests that may fail without the run counting as failed, 0 to 1
	Noise   map[string]float64 // share by which runs that are alike differ, by the metric's name: no margin is less
	Despite []string           // properties in which the sides may differ, as in Run.Asked; "suspect" for runs that are
}

// A Limit gates the change of one metric.
type Limit struct {
	Metric   Metric
	Relative float64 // a change for the worse by less than this share does not matter
	Absolute float64 // nor one by less than this, in the metric's unit
}

// A Bound is what the median of new runs must not go beyond.
type Bound struct {
	Metric      Metric
	Least, Most float64 // infinite for none
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

// Needs is how many runs a side it takes at least to decide on all limits at so many
// points; 0 where the gate limits no change.
func (g *Gate) Needs(points int) int {
	tests := len(g.Limits) * points
	if tests == 0 {
		return 0
	}
	return RunsNeeded(g.alpha(), tests)
}

// limit is the gate's on a metric, nil without one.
func (g *Gate) limit(name string) *Limit {
	i := slices.IndexFunc(g.Limits, func(l Limit) bool { return l.Metric.Name == name })
	if i < 0 {
		return nil
	}
	return &g.Limits[i]
}

// metrics are those that are shown: all of Metrics, and what else the gate has.
func (g *Gate) metrics() []Metric { return slices.Concat(Metrics, g.Extra()) }

// Extra are the metrics of the gate that Metrics lacks.
func (g *Gate) Extra() []Metric {
	var extra []Metric
	add := func(m Metric) {
		same := func(other Metric) bool { return other.Name == m.Name }
		if !slices.ContainsFunc(Metrics, same) && !slices.ContainsFunc(extra, same) {
			extra = append(extra, m)
		}
	}
	for _, l := range g.Limits {
		add(l.Metric)
	}
	for _, b := range g.Bounds {
		add(b.Metric)
	}
	return extra
}

// margin is the share of the old median by which the metric may get worse, as it
// was asked for.
func (l *Limit) margin(old float64) float64 {
	if l.Absolute == 0 {
		return l.Relative
	}
	return max(l.Relative, l.Absolute/math.Abs(old))
}
