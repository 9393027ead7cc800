package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/stats"
)

// A Gate says when one set of runs is worse than another. The zero value gates only failures.
// DefaultGate is what most users want. Compare does not change it.
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

// DefaultGate gates output throughput, median TTFT and median TPOT, and allows no failed request. Runs
// whose answers came whole are gated by the median E2EL, and pooling endpoints by inputs a second.
func DefaultGate() Gate {
	var g Gate
	for _, name := range []string{"output_throughput", "median_ttft", "median_tpot"} {
		m, _ := numbers.Find(name)
		g.Limits = append(g.Limits, Margin{Number: m, Relative: usualMargin, usual: true})
	}
	return g
}

// instead are what DefaultGate gates if no run has its number: answers that come whole have no TTFT
// and no TPOT, and numbers for a prompt have no output tokens.
var instead = map[string]string{"output_throughput": "input_sequence_throughput", "median_ttft": "median_e2el",
	"median_tpot": ""}

// fitted is the gate for these runs: what nobody asked for and no run has gives way to other numbers.
func (g *Gate) fitted(runs []*Run) Gate {
	has := func(name string) bool {
		return slices.ContainsFunc(runs, func(r *Run) bool {
			_, known := r.Numbers[name]
			return known
		})
	}
	fitted := *g
	fitted.Limits = nil
	for _, l := range g.Limits {
		other, replaceable := instead[l.Number.Name]
		if l.usual && replaceable && !has(l.Number.Name) && has("median_e2el") {
			m, found := numbers.Find(other)
			if !found || !has(other) || g.limit(other) != nil {
				continue
			}
			l.Number = m
		}
		fitted.Limits = append(fitted.Limits, l)
	}
	return fitted
}

func (g *Gate) alpha() float64 {
	if g.Alpha == 0 {
		return 0.05
	}
	return g.Alpha
}

// despite reports that the gate allows what that name in Despite stands for.
func (g *Gate) despite(what string) bool { return slices.Contains(g.Despite, what) }

func (g *Gate) unit() Unit { return cmp.Or(g.Unit, PerStart) }

// LeastPairs and leastInOrder are the fewest units a side with which pairs, and one side after the
// other, are judged. Fewer do not show how much they vary, or drift.
const (
	LeastPairs   = 3
	leastInOrder = 6
	// If the machine changed at one moment, it did so exactly between the sides in 1 of 2n cases with n units a
	// side, and nothing tells that from a change of the server. Fewer than 10 a side say that none got worse, but
	// not that one did: a step would be a false alarm in more than 5 % of the cases.
	worseInOrder = 10
)

// Needs is the least number of units a side to decide on all limits at so many points. It is 0 if
// the gate limits no change.
func (g *Gate) Needs(design Design, points int) int {
	tests := len(g.Limits) * points
	switch {
	case tests == 0:
		return 0
	case design == InPairs:
		return LeastPairs
	case design == Chain:
		return leastSessions
	case design == InTurns:
		return stats.Needed(g.alpha(), tests)
	}
	return leastInOrder
}

// Describe writes what the gate looks at, and how many units a side it takes for each load.
func (g *Gate) Describe(w io.Writer) error {
	names := []string{"failed requests"}
	for _, l := range g.Limits {
		names = append(names, l.Number.Name)
	}
	for _, b := range g.Bounds {
		names = append(names, "the bound of "+b.Number.Name)
	}
	takes := "1 run a side"
	if len(g.Limits) > 0 {
		p := Point{arrangement: arrangement{unit: g.unit()}}
		takes = fmt.Sprintf("%d pairs, or %d %s in turns, or %d one after the other", LeastPairs, g.Needs(InTurns, 1),
			p.aSide(2), leastInOrder)
	}
	_, err := fmt.Fprintf(w, "gated: %s\ntakes for each load: %s\n", strings.Join(names, ", "), takes)
	return err
}

// limit is the gate's limit on a metric, nil without one.
func (g *Gate) limit(name string) *Margin {
	i := slices.IndexFunc(g.Limits, func(l Margin) bool { return l.Number.Name == name })
	if i < 0 {
		return nil
	}
	return &g.Limits[i]
}

// metrics are all compared metrics: numbers.All, and the gate's extra ones.
func (g *Gate) metrics() []metrics.Number { return slices.Concat(numbers.All(), g.Extra()) }

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

// margin is the share of the old median by which the metric may get worse. It is infinite if the
// old median is 0 and the limit has an absolute part, which then decides alone.
func (l *Margin) margin(old float64) float64 {
	if l.Absolute == 0 {
		return l.Relative
	}
	return max(l.Relative, l.Absolute/math.Abs(old))
}
