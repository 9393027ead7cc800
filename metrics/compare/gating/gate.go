// Package gating says which numbers decide whether new runs are worse.
//
// A Gate has a Margin for each number whose change counts, and a Bound for each that may not pass a value at all. Its
// Settings are keys of a gate file and flags, and its Text is the gate as such a file, which a sweep records. A gate
// knows no runs: compare judges them by it.
package gating

import (
	"cmp"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// A Gate says when one set of runs is worse than another. The zero value gates only failures.
// Default is what most users want. compare.Compare does not change a Gate.
type Gate struct {
	Alpha  float64  // chance of a false alarm over all limits together; 0 means 0.05
	Unit   Unit     // what counts as one piece of evidence; empty means PerStart
	Limits []Margin // one for each metric
	Bounds []Bound  // one for each metric: what new runs may be, whatever the old ones are

	// Allowed is the share of requests that may fail in a good run, 0 to 1.
	Allowed float64
	// Despite are the parameters in which the sides may differ.
	// "suspect" allows runs that are SUSPECT.
	Despite []string
}

// A Unit is what counts as one piece of evidence.
type Unit string

const (
	PerStart Unit = "start" // one start of a server: the mean of all its runs
	PerRun   Unit = "run"   // one run, also if all of them are on one start

	// PerSession is one session of a baseline with enough of them, unless the gate has another unit.
	PerSession Unit = "session"
)

// Known are the names in Gate.Despite that are no flags of a run.
var Known = []string{"suspect", asked.Client, asked.Host, asked.Cores, asked.Shards, asked.Definitions, asked.Arm,
	asked.Target}

// A Margin gates the change of one metric.
type Margin struct {
	Number   metrics.Number
	Relative float64 // ignore changes for the worse by less than this share,
	Absolute float64 // or by less than this, in the metric's unit

	usual bool // nobody asked for it
}

// A Bound limits the median of new runs.
type Bound struct {
	Number      metrics.Number
	Least, Most float64 // infinite for none
}

// usualMargin is the default share by which a number may get worse.
const usualMargin = 0.05

// Default gates output throughput, median TTFT and median TPOT, and allows no failed request. Runs
// whose answers came whole are gated by the median E2EL, and pooling endpoints by inputs a second.
func Default() Gate {
	var g Gate
	for _, name := range []string{"output_throughput", "median_ttft", "median_tpot"} {
		m, _ := numbers.Find(name)
		g.Limits = append(g.Limits, Margin{Number: m, Relative: usualMargin, usual: true})
	}
	return g
}

// instead are what Default gates if no run has its number: answers that come whole have no TTFT
// and no TPOT, and numbers for a prompt have no output tokens.
var instead = map[string]string{"output_throughput": "input_sequence_throughput", "median_ttft": "median_e2el",
	"median_tpot": ""}

// Fitted is the gate for some runs: what nobody asked for and no run has gives way to other numbers. has
// says whether a run has a number.
func (g *Gate) Fitted(has func(name string) bool) Gate {
	fitted := *g
	fitted.Limits = nil
	for _, l := range g.Limits {
		other, replaceable := instead[l.Number.Name]
		if l.usual && replaceable && !has(l.Number.Name) && has("median_e2el") {
			m, found := numbers.Find(other)
			if !found || !has(other) || g.Limit(other) != nil {
				continue
			}
			l.Number = m
		}
		fitted.Limits = append(fitted.Limits, l)
	}
	return fitted
}

// Level is the chance of a false alarm over all limits together.
func (g *Gate) Level() float64 {
	if g.Alpha == 0 {
		return 0.05
	}
	return g.Alpha
}

// Allows reports that the gate allows what that name in Despite stands for.
func (g *Gate) Allows(what string) bool { return slices.Contains(g.Despite, what) }

// Counted is what counts as one piece of evidence.
func (g *Gate) Counted() Unit { return cmp.Or(g.Unit, PerStart) }

// Limit is the gate's limit on a metric, nil without one.
func (g *Gate) Limit(name string) *Margin {
	i := slices.IndexFunc(g.Limits, func(l Margin) bool { return l.Number.Name == name })
	if i < 0 {
		return nil
	}
	return &g.Limits[i]
}

// Numbers are all compared metrics: numbers.All, and the gate's extra ones.
func (g *Gate) Numbers() []metrics.Number { return slices.Concat(numbers.All(), g.Extra()) }

// Extra are the metrics of the gate that numbers.All lacks.
func (g *Gate) Extra() []metrics.Number {
	var extra []metrics.Number
	add := func(m metrics.Number) {
		same := func(other metrics.Number) bool { return other.Name == m.Name }
		if !slices.ContainsFunc(numbers.All(), same) && !slices.ContainsFunc(extra, same) {
			extra = append(extra, m)
		}
	}
	for _, l := range g.Limits {
		add(l.Number)
	}
	for _, b := range g.Bounds {
		add(b.Number)
	}
	return extra
}

// Share is the share of the old median by which the metric may get worse. It is infinite if the
// old median is 0 and the limit has an absolute part, which then decides alone.
func (l *Margin) Share(old float64) float64 {
	if l.Absolute == 0 {
		return l.Relative
	}
	return max(l.Relative, l.Absolute/math.Abs(old))
}

// Promise is the smallest change that a gate with that margin promises to detect: twice the margin.
func Promise(margin float64) float64 {
	if margin == 0 {
		margin = usualMargin
	}
	return 2 * margin
}

// GatesLatency says whether a latency is gated.
func (g *Gate) GatesLatency() bool {
	return slices.ContainsFunc(g.Limits, func(l Margin) bool { return l.Number.Latency != "" }) ||
		slices.ContainsFunc(g.Bounds, func(b Bound) bool { return b.Number.Latency != "" })
}
