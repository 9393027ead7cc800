package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/catalogue"
)

// A number is a number by which charts compare runs.
type number struct {
	name string // in the names of charts
	metrics.Number
}

// title is the label with the unit.
func (n *number) title() string { return fmt.Sprintf("%s (%s)", n.Label, n.Unit) }

func chosen(name, key string) number { return number{name, catalogue.Choose(key)[0]} }

func median(latency string) number { return chosen(latency+"-median", "median_"+latency) }

func tail(latency string) number { return chosen(latency+"-p99", "p99_"+latency) }

func outputThroughput() number { return chosen("throughput", "output_throughput") }

// loads are the flags that set how hard a server is driven. A line of latency against
// throughput follows one of them.
var loads = []string{"request-rate", "max-concurrency", "num-prompts"}

// sweep are the charts of several runs: latency against throughput with the Pareto front, and each
// number over each flag that has several numeric values. A point is the median of a run's repeats.
// If no flag has several numbers, each repeat is a dot.
func sweep(runs []Run) []Chart {
	all := Conditions(runs)
	grid := gridKeys(all)
	var charts []Chart
	switch {
	case len(all) < 2:
		return nil
	case grid == nil && len(all) < len(runs):
		for _, n := range []number{outputThroughput(), median("ttft"), median("tpot"), median("e2el")} {
			if c := spread(all, n); c.Series != nil {
				charts = append(charts, c.fitRuns())
			}
		}
		return charts
	case grid == nil && targets(runs):
		return nil
	}
	for _, metric := range []string{"ttft", "tpot", "e2el"} {
		for _, n := range []number{median(metric), tail(metric)} {
			if c := versus(all, n, loadKey(grid)); c.Series != nil {
				c.Limits = limits(runs, metric, false)
				charts = append(charts, c.fitRuns())
			}
		}
	}
	if c := perUser(all, loadKey(grid)); c.Series != nil {
		charts = append(charts, c.fitRuns())
	}
	for _, key := range grid {
		for _, n := range []number{outputThroughput(), median("ttft"), median("tpot"), median("e2el")} {
			if c := over(all, n, key); c.Series != nil {
				charts = append(charts, c.fitRuns())
			}
		}
	}
	return charts
}

// targets says that labels tell the runs apart by their targets. Targets may have different
// loads, so no target is better than another.
func targets(runs []Run) bool {
	return slices.ContainsFunc(runs[0].Labels, func(kv metrics.KV) bool { return kv.Key == keyTarget })
}

// fitRuns gives the axes their ends, and Y the scale that suits it.
func (c *Chart) fitRuns() Chart {
	var span extent
	for _, s := range c.Series {
		span.add(s.Y...)
	}
	c.Y.Scale = span.scale(runSpan)
	c.fit(true)
	return *c
}

// gridKeys are the labels that are numbers.
func gridKeys(all []Condition) (keys []string) {
	if len(all) == 0 {
		return nil
	}
	for _, kv := range without(all[0].labels, keyFile, keyModel, keyTarget, keyArm, keyNumber) {
		if !slices.ContainsFunc(all, func(c Condition) bool { return math.IsNaN(size(c.label(kv.Key))) }) {
			keys = append(keys, kv.Key)
		}
	}
	return keys
}

// loadKey is the flag that lines follow, "" if no label is a number.
func loadKey(grid []string) string {
	for _, key := range slices.Concat(loads, grid) {
		if slices.Contains(grid, key) {
			return key
		}
	}
	return ""
}

// versus is a latency against output throughput: a path for the conditions that
// differ in the load alone, from the lightest to the heaviest.
func versus(all []Condition, latency number, load string) Chart {
	throughput := outputThroughput()
	c := Chart{Name: latency.name + "-against-throughput", Title: latency.Label + " against output throughput",
		X: Axis{Title: throughput.title()}, Y: Axis{Title: latency.title()}}
	if load != "" {
		c.Note = "A line goes from the lowest " + load + " to the highest."
	}
	paths := paths(all, load, func(c *Condition) (x, y float64) {
		return c.Middle(throughput.Of),
			c.Middle(latency.Of)
	})
	c.draw(paths)
	if front := pareto(paths, -1); len(front.X) > 1 && !targets(all[0].Runs) {
		c.Note = strings.TrimSpace(c.Note + " No other run is better in both than a run on the front.")
		c.Series = append(c.Series, front)
	}
	return c
}

// paths join the conditions that differ in one label alone, as far as their points are
// known.
func paths(all []Condition, key string, point func(*Condition) (x, y float64)) []Series {
	var found []Series
	for _, line := range lines(all, key) {
		s := Series{Name: cmp.Or(name(without(line[0].labels, key)), "runs"), Style: Path}
		for i := range line {
			if x, y := point(&line[i]); finite(x) && finite(y) {
				s.add(x, y)
			}
		}
		if len(s.X) > 0 {
			found = append(found, s)
		}
	}
	return found
}

// draw adds the paths to the chart. Of too many paths it adds some, from first to last.
func (c *Chart) draw(paths []Series) {
	shown := min(len(paths), MostOverlaid)
	for i := range shown {
		s := paths[i*len(paths)/shown]
		s.Color = i
		c.Series = append(c.Series, s)
	}
	if shown < len(paths) {
		c.Note = strings.TrimSpace(fmt.Sprintf("%s %d of %d lines are shown.", c.Note, shown, len(paths)))
	}
}

// over is a number over the values of a flag, with a path for the conditions
// that differ in that flag alone.
func over(all []Condition, n number, key string) Chart {
	var values []string
	for i := range all {
		values = append(values, all[i].label(key))
	}
	values = metrics.Distinct(values)
	slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(size(a), size(b)) })
	c := Chart{Name: n.name + "-over-" + plainName(key), Title: n.Label + " over " + key,
		X: Axis{Title: key, Scale: Category, Names: values}, Y: Axis{Title: n.title()}}
	c.draw(paths(all, key, func(c *Condition) (x, y float64) {
		return float64(slices.Index(values, c.label(key))), c.Middle(n.Of)
	}))
	return c
}

// spread has a dot for each run, above the name of what it repeats.
func spread(all []Condition, n number) Chart {
	c := Chart{Name: n.name + "-spread", Title: n.Label + " of each run", X: Axis{Title: "Runs", Scale: Category},
		Y: Axis{Title: n.title()}}
	for i, condition := range all {
		c.X.Names = append(c.X.Names, condition.Name())
		s := Series{Name: condition.Name(), Style: Path, Color: i}
		for k, r := range condition.Runs {
			if v := n.Of(r.Summary); finite(v) && r.Summary.Completed != 0 {
				// Next to each other, since repeats may be equal.
				s.add(float64(i)+0.5*(float64(k+1)/float64(len(condition.Runs)+1)-0.5), v)
			}
		}
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

// plainName replaces all but lower-case letters and digits by hyphens.
func plainName(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(text))
}
