// Package sharing says what targets that share a GPU do to each other: how much slower each is with
// each other one, how evenly they share, and whose prompts lengthen whose gaps between tokens.
//
// A Load is the repeats of one load. Its Matrix and its Evenness compare whole runs, so a
// repeat is one sample of them. Its Causes look inside the runs with all targets, on the one clock
// that these have.
package sharing

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/metrics/targets"
)

// A Load is the repeats of one load on several targets.
type Load struct {
	// Name distinguishes it from the other loads of its source, as "arm mps-50" does; empty if
	// there is only one.
	Name   string
	Groups []targets.Group // the repeats
	Views  []*View         // of the runs with all targets; nil for a run without single requests
}

// Loads are the loads of the runs, in the order of their first ones: repeats that differ
// only in their seed are of one. Runs on a single target have none. views has the Views of groups
// whose runs have lost their single requests, by the ID of the group; nil for none.
func Loads(sums []*metrics.Summary, views map[string]*View) []Load {
	var loads []map[string]string
	var all []Load
	for _, g := range targets.Groups(sums) {
		if len(g.Shared) < 2 {
			continue
		}
		load := loadOf(&g)
		at := slices.IndexFunc(loads, func(other map[string]string) bool { return maps.Equal(load, other) })
		if at < 0 {
			at, loads, all = len(all), append(loads, load), append(all, Load{})
		}
		all[at].Groups = append(all[at].Groups, g)
		view, kept := views[g.ID]
		if !kept {
			view = viewOf(&g)
		}
		all[at].Views = append(all[at].Views, view)
	}
	for i, load := range loads {
		all[i].Name = distinction(load, loads)
	}
	return all
}

// loadOf is the parameters of the runs with all targets, by the target and their name.
func loadOf(g *targets.Group) map[string]string {
	load := map[string]string{}
	for _, s := range g.Shared {
		for name, value := range asked.Of(s) {
			switch name {
			case "seed", "target":
			case "arm":
				load[name] = value
			default:
				load[s.Header.Target+" "+name] = value
			}
		}
	}
	return load
}

// distinction is the arm of a load, if the loads differ in it, and else the parameters in which they
// do.
func distinction(load map[string]string, all []map[string]string) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(load)) {
		if slices.ContainsFunc(all, func(other map[string]string) bool { return other[name] != load[name] }) {
			names = append(names, fmt.Sprintf("%s %s", name, load[name]))
		}
	}
	return strings.Join(names, ", ")
}

// LeastRepeats is how many repeats an interval needs.
const LeastRepeats = 3

// A Mean is a mean over repeats, with its 95 % interval.
type Mean struct {
	Repeats   int
	Value     float64 // NaN if unknown
	Low, High float64 // NaN for fewer than LeastRepeats
}

// confidence is the chance that a 95 % interval misses the truth on one side.
const confidence = 0.025

// meanOf is the mean of values with the interval of Student's t.
func meanOf(values []float64) Mean {
	m := Mean{Repeats: len(values), Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(values) == 0 || slices.ContainsFunc(values, math.IsNaN) {
		return m
	}
	e := stats.Paired(values)
	m.Value = e.Value
	if len(values) >= LeastRepeats {
		m.Low, m.High = e.Lower(confidence), e.Upper(confidence)
	}
	return m
}

// each changes the numbers of a mean.
func (m Mean) each(change func(float64) float64) Mean {
	return Mean{m.Repeats, change(m.Value), change(m.Low), change(m.High)}
}
