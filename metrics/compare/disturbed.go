package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/verdict"
)

// disturbances are the checks that say that the client, its machine or somebody else on the GPU disturbed
// a run. No other check makes a run disturbed: what a server may cause is a finding about it.
var disturbances = []string{
	"CPU quota", "other processes", "lag", "later turns", "send delay", "socket age", "wake-up", "shared reads",
	"longest stop", "stopped",
	"busiest second", "own CPU", "stolen CPU", "longest GC pause", "GC pauses", "clock step", "exhaustion", "selftest",
	"foreign processes",
}

// UsedAnyway is the metadata of runs of a sequential sweep that is despite suspect.
var UsedAnyway = metrics.KV{Key: "disturbed-pairs", Value: "used"}

// Disturbance is how the client was disturbed in a run; empty if it was not. No latency of the run, and no
// other number of the server, decides it.
func Disturbance(s *metrics.Summary) string {
	found := failed(s, func(c verdict.Check) bool { return !heldBack(c) && slices.Contains(disturbances, c.Name) })
	if len(found) == 0 || metrics.Value(s.Header.Config.Metadata, UsedAnyway.Key) == UsedAnyway.Value {
		return ""
	}
	return "SUSPECT: " + found[0].Text
}

// Disturbed are the pairs of a sequential sweep in which a run was disturbed, by repeat, and how. Such a
// pair says nothing about the servers. A gate that is despite suspect knows none.
func Disturbed(runs []*Run, g *gating.Gate) map[int]string {
	found := map[int]string{}
	if slices.Contains(g.Despite, "suspect") {
		return found
	}
	for _, r := range runs {
		if r.MaxPairs > 0 && r.Repeat > 0 && r.measured.disturbed != "" && found[r.Repeat] == "" {
			found[r.Repeat] = strings.TrimPrefix(r.Asked[asked.Arm]+": "+r.measured.disturbed, ": ")
		}
	}
	return found
}

// DisturbedRepeats are the repeats of sequential sweeps that were disturbed, by their label.
func DisturbedRepeats(sums []*metrics.Summary) map[string]bool {
	found := map[string]bool{}
	for _, s := range sums {
		if Disturbance(s) != "" && metrics.Value(s.Header.Config.Metadata, "max-pairs") != "" {
			found[metrics.Value(s.Header.Config.Metadata, "repeat")] = true
		}
	}
	return found
}

// Tries is how often a pair of a sequential sweep is made that is disturbed each time. Then it is left out.
const Tries = 4

// spent counts the pairs that were disturbed in each of their Tries, of sequential runs whose disturbed
// repeats are known.
func spent(runs []*Run, disturbed map[int]string) (n int) {
	last, tries := 0, 0
	for _, r := range runs {
		last = max(last, r.Repeat)
	}
	for repeat := 1; repeat <= last; repeat++ {
		if disturbed[repeat] == "" {
			tries = 0
		} else if tries++; tries == Tries {
			n, tries = n+1, 0
		}
	}
	return n
}

// undisturbed leaves out the disturbed pairs of a sequential sweep, unless there are no others.
func (c *Comparison) undisturbed(old, new []*Run, gate *gating.Gate) (_, _ []*Run) {
	found := Disturbed(slices.Concat(old, new), gate)
	if len(found) == 0 {
		return old, new
	}
	in := func(r *Run) bool { return r.MaxPairs > 0 && found[r.Repeat] != "" }
	c.spent = spent(slices.Concat(old, new), found)
	keptOld, keptNew := slices.DeleteFunc(slices.Clone(old), in), slices.DeleteFunc(slices.Clone(new), in)
	if len(keptOld) == 0 || len(keptNew) == 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("all %s were disturbed: the numbers are shown, and decide nothing",
			metrics.Counted(len(found), "pair")))
		return old, new
	}
	for _, r := range slices.Concat(old, new) {
		if in(r) && r.measured.disturbed != "" {
			c.quiet = cmp.Or(c.quiet, r.measured.remedy)
		}
	}
	c.leftOut = len(found)
	repeats := slices.Sorted(maps.Keys(found))
	which, why := fmt.Sprintf("repeat %d", repeats[0]), found[repeats[0]]
	if len(repeats) > 1 {
		var numbers []string
		for _, repeat := range repeats {
			numbers = append(numbers, strconv.Itoa(repeat))
		}
		which, why = "repeats "+strings.Join(numbers, ", "), "the first: "+why
	}
	c.Notes = append(c.Notes, fmt.Sprintf("left out: %s, %s (%s)", metrics.Counted(len(found), "disturbed pair"), which,
		why))
	return keptOld, keptNew
}

// LeaveOpen makes NO VERDICT of the reason why no more pairs are made, unless there is a verdict.
func (c *Comparison) LeaveOpen(why string) {
	if c.quiet != "" {
		text := fmt.Sprintf("disturbed pairs: %s; --despite suspect uses them as they are", c.quiet)
		if !slices.Contains(c.Notes, text) {
			c.Notes = append(c.Notes, text)
		}
	}
	if c.Verdict != Regressed {
		c.Verdict, c.Reasons = NoVerdict, append([]string{why}, c.Reasons...)
	}
}
