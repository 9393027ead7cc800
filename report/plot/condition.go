package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/servebench/servebench/metrics"
)

// A condition is the runs that are repeats of each other.
type condition struct {
	labels []metrics.KV
	runs   []Run
}

// conditions puts the repeats together, in the order of the first ones.
func conditions(runs []Run) []condition {
	var all []condition
	at := map[string]int{}
	for _, r := range runs {
		labels := without(r.Labels, keyRepeat, keySeed, keyRun)
		key := name(labels)
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, condition{labels: labels})
		}
		all[i].runs = append(all[i].runs, r)
	}
	return all
}

func without(labels []metrics.KV, keys ...string) []metrics.KV {
	return slices.DeleteFunc(slices.Clone(labels), func(kv metrics.KV) bool { return slices.Contains(keys, kv.Key) })
}

func (c *condition) label(key string) string {
	for _, kv := range c.labels {
		if kv.Key == key {
			return kv.Value
		}
	}
	return ""
}

// middle is the median of a number over the repeats that know it, NaN without.
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

// lines are the conditions that differ in one label alone, by its size.
func lines(all []condition, key string) [][]condition {
	var found [][]condition
	at := map[string]int{}
	for _, c := range all {
		rest := name(without(c.labels, key))
		i, known := at[rest]
		if !known {
			i = len(found)
			at[rest] = i
			found = append(found, nil)
		}
		found[i] = append(found[i], c)
	}
	for _, line := range found {
		slices.SortStableFunc(line, func(a, b condition) int { return cmp.Compare(size(a.label(key)), size(b.label(key))) })
	}
	return found
}

// size is the number that a label is, NaN when it is none.
func size(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}
