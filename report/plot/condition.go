package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/servebench/servebench/metrics"
)

// A condition is runs that repeat each other.
type condition struct {
	labels []metrics.KV
	runs   []Run
}

// conditions groups the repeats, in the order of the first ones.
func conditions(runs []Run) (all []condition) {
	labels := func(r Run) []metrics.KV { return without(r.Labels, keyRepeat, keySeed, keyRun) }
	names, repeats := metrics.By(runs, func(r Run) string { return name(labels(r)) })
	for _, name := range names {
		all = append(all, condition{labels(repeats[name][0]), repeats[name]})
	}
	return all
}

// colors give each run its color in a chart of all of them: repeats have the same one, where
// they repeat several conditions.
func colors(runs []Run) []int {
	of := make([]int, len(runs))
	all := conditions(runs)
	if len(all) < 2 {
		for i := range of {
			of[i] = i
		}
		return of
	}
	for i := range runs {
		of[i] = slices.IndexFunc(all, func(c condition) bool {
			return slices.ContainsFunc(c.runs, func(r Run) bool { return r.Summary == runs[i].Summary })
		})
	}
	return of
}

func without(labels []metrics.KV, keys ...string) []metrics.KV {
	return slices.DeleteFunc(slices.Clone(labels), func(kv metrics.KV) bool { return slices.Contains(keys, kv.Key) })
}

func (c *condition) label(key string) string { return metrics.Value(c.labels, key) }

// middle is the median of a number over the repeats that know it, NaN for none.
func (c *condition) middle(of func(*metrics.Summary) float64) float64 {
	var values []float64
	for _, r := range c.runs {
		if v := of(r.Summary); finite(v) && r.Completed != 0 {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return metrics.Median(values)
}

// lines groups the conditions that differ in one label alone, ordered by it.
func lines(all []condition, key string) (found [][]condition) {
	names, lines := metrics.By(all, func(c condition) string { return name(without(c.labels, key)) })
	for _, name := range names {
		line := lines[name]
		slices.SortStableFunc(line, func(a, b condition) int { return cmp.Compare(size(a.label(key)), size(b.label(key))) })
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
