package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/numpy"
)

// A Condition is runs that repeat each other.
type Condition struct {
	Runs   []Run
	labels []metrics.KV
	unused map[string]bool // the repeats that have no part in its numbers
}

// Conditions groups the repeats among runs, which must have Labels. The groups are in the order
// of their first runs.
func Conditions(runs []Run) (all []Condition) {
	labels := func(r Run) []metrics.KV { return without(r.Labels, keyRepeat, keySeed, keyRun) }
	names, repeats := metrics.By(runs, func(r Run) string { return name(labels(r)) })
	var sums []*metrics.Summary
	for _, r := range runs {
		sums = append(sums, r.Summary)
	}
	disturbed := brief.DisturbedRepeats(sums)
	for _, name := range names {
		all = append(all, Condition{repeats[name], labels(repeats[name][0]), disturbed})
	}
	return all
}

// colors are the colors of the runs in a chart of all. The repeats of one condition share a
// color if there are several conditions.
func colors(runs []Run) []int {
	of := make([]int, len(runs))
	all := Conditions(runs)
	if len(all) < 2 {
		for i := range of {
			of[i] = i
		}
		return of
	}
	for i := range runs {
		of[i] = slices.IndexFunc(all, func(c Condition) bool {
			return slices.ContainsFunc(c.Runs, func(r Run) bool { return r.Summary == runs[i].Summary })
		})
	}
	return of
}

func without(labels []metrics.KV, keys ...string) []metrics.KV {
	return slices.DeleteFunc(slices.Clone(labels), func(kv metrics.KV) bool { return slices.Contains(keys, kv.Key) })
}

// Name is the labels in words.
func (c *Condition) Name() string { return cmp.Or(name(c.labels), "all runs") }

func (c *Condition) label(key string) string { return metrics.Value(c.labels, key) }

// used are the runs without disturbed pairs, unless there are no others.
func (c *Condition) used() []Run {
	if len(c.unused) == 0 {
		return c.Runs
	}
	used := slices.DeleteFunc(slices.Clone(c.Runs), func(r Run) bool {
		return metrics.Value(r.Summary.Header.Config.Metadata, "max-pairs") != "" &&
			c.unused[metrics.Value(r.Summary.Header.Config.Metadata, keyRepeat)]
	})
	if len(used) == 0 {
		return c.Runs
	}
	return used
}

// Middle is the median of a number over the repeats that know it; NaN if no repeat does. Disturbed pairs of
// a sequential sweep have no part in it.
func (c *Condition) Middle(of func(*metrics.Summary) float64) float64 {
	var values []float64
	for _, r := range c.used() {
		if v := of(r.Summary); finite(v) && r.Summary.Completed != 0 {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return numpy.Median(values)
}

// lines groups the conditions that differ in one label alone, ordered by it.
func lines(all []Condition, key string) (found [][]Condition) {
	names, lines := metrics.By(all, func(c Condition) string { return name(without(c.labels, key)) })
	for _, name := range names {
		line := lines[name]
		slices.SortStableFunc(line, func(a, b Condition) int { return cmp.Compare(size(a.label(key)), size(b.label(key))) })
		found = append(found, line)
	}
	return found
}

// size is a label as a number, NaN for other labels.
func size(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}
