package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// Tries is how often a pair of a sequential sweep is made that is disturbed each time. Then it is left out.
const Tries = 4

// spent counts the pairs that were disturbed in each of their Tries, of sequential runs whose disturbed
// repeats are known.
func spent(runs []*brief.Run, disturbed map[int]string) (n int) {
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
func (c *Comparison) undisturbed(old, new []*brief.Run, gate *gating.Gate) (_, _ []*brief.Run) {
	found := brief.Disturbed(slices.Concat(old, new), gate)
	if len(found) == 0 {
		return old, new
	}
	in := func(r *brief.Run) bool { return r.MaxPairs > 0 && found[r.Repeat] != "" }
	c.spent = spent(slices.Concat(old, new), found)
	keptOld, keptNew := slices.DeleteFunc(slices.Clone(old), in), slices.DeleteFunc(slices.Clone(new), in)
	if len(keptOld) == 0 || len(keptNew) == 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("all %s were disturbed: the numbers are shown, and decide nothing",
			metrics.Counted(len(found), "pair")))
		return old, new
	}
	for _, r := range slices.Concat(old, new) {
		if in(r) && r.Source.Disturbed != "" {
			c.quiet = cmp.Or(c.quiet, r.Source.Remedy)
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
