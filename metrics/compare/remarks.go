package compare

import (
	"math"
	"slices"
	"strings"
	"time"
)

// remark says what a reader should know of a point's runs that keeps no gate from
// a verdict.
func (j *judge) remark(p *Point) {
	if sequential(p.Old, p.New) {
		j.note(p, "the old runs were all before the new ones, or after: what else changed meanwhile is in the difference. servebench sweep takes turns")
	}
	if was, is := seeds(p.Old), seeds(p.New); was != is && shown(p.Old, seed) == shown(p.New, seed) {
		j.note(p, "the seeds are %s on the old side and %s on the new: the prompts were others", was, is)
	}
	for _, tokens := range []struct {
		name string
		of   func(*Run) int
	}{
		{"prompts", func(r *Run) int { return r.Input }}, {"answers", func(r *Run) int { return r.Output }},
	} {
		was, is := perRequest(p.Old, tokens.of), perRequest(p.New, tokens.of)
		if change := is/was - 1; math.Abs(change) > lengthMargin {
			j.note(p, "the %s had %.1f tokens on the old side and %.1f on the new (%s)", tokens.name, was, is, Percent(change))
		}
	}
}

// lengthMargin is by which share prompts or answers may differ in length without
// a word.
const lengthMargin = 0.02

// perRequest is how many tokens completed requests had in the mean; NaN where that
// is not known.
func perRequest(runs []*Run, of func(*Run) int) float64 {
	tokens, requests := 0, 0
	for _, r := range runs {
		if of(r) < 0 || r.Completed < 0 {
			return math.NaN()
		}
		tokens += of(r)
		requests += r.Completed
	}
	return float64(tokens) / float64(requests)
}

func seeds(runs []*Run) string { return strings.Join(propertyOf(runs, seed), ", ") }

// sequential says whether all runs of one side began before those of the other.
func sequential(old, new []*Run) bool {
	if len(old) < 2 || len(new) < 2 {
		return false
	}
	began := func(runs []*Run) (first, last time.Time) {
		byTime := func(a, b *Run) int { return a.Began.Compare(b.Began) }
		return slices.MinFunc(runs, byTime).Began, slices.MaxFunc(runs, byTime).Began
	}
	oldFirst, oldLast := began(old)
	newFirst, newLast := began(new)
	if oldFirst.IsZero() || newFirst.IsZero() {
		return false
	}
	return oldLast.Before(newFirst) || newLast.Before(oldFirst)
}
