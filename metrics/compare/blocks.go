package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// This file compares loads as far as result blocks say what they were: a block does not record its
// flags, but how many requests there were and how long their prompts.

// blockMargin is by which share the loads of blocks may differ: requests fail, and random prompts
// differ a little in length.
const blockMargin = 0.1

// IsBlock reports whether the run is a result block, which does not say with which flags it was measured.
func (r *Run) IsBlock() bool { return r.Asked["model"] == "" }

// requests is the number of requests; NaN if unknown.
func (r *Run) requests() float64 {
	if r.Completed < 0 {
		return math.NaN()
	}
	return float64(r.Completed + max(r.Failed, 0))
}

// prompt is the mean length of a prompt in tokens; NaN if unknown.
func (r *Run) prompt() float64 { return perRequest([]*Run{r}, func(r *Run) int { return r.Input }) }

// far says whether two known numbers differ by more than blockMargin.
func far(a, b float64) bool { return math.Max(a, b) > (1+blockMargin)*math.Min(a, b) }

// sameLoad says whether two runs may have had the same load.
func (r *Run) sameLoad(other *Run) bool {
	return !far(r.requests(), other.requests()) && !far(r.prompt(), other.prompt())
}

// load describes the load of a block.
func (r *Run) load() string {
	text := metrics.Counted(int(r.requests()), "request")
	if tokens := r.prompt(); !math.IsNaN(tokens) {
		text += fmt.Sprintf(" with %s prompt tokens each", metrics.Readable(tokens, 0))
	}
	return text
}

// unlikeBlocks is the error for result blocks of different loads on a side, nil if there are none.
func unlikeBlocks(side string, runs []*Run) error {
	first := slices.IndexFunc(runs, (*Run).IsBlock)
	if first < 0 || !slices.ContainsFunc(runs, func(r *Run) bool { return r.IsBlock() && !r.sameLoad(runs[first]) }) {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "the %s result blocks have different loads, so no number can stand for all of them:\n", side)
	for i, r := range runs {
		if r.IsBlock() {
			fmt.Fprintf(&text, "  block %d: %s\n", i+1, r.load())
		}
	}
	fmt.Fprintf(&text, "choose blocks of one load by their numbers in the file, as FILE:%d", first+1)
	return fmt.Errorf("%s", text.String())
}

// unlikeSides doubts a point if one side has result blocks, and the other side other loads.
func (j *judge) unlikeSides(p *Point) {
	old, new := p.Old[0], p.New[0]
	if (old.IsBlock() || new.IsBlock()) && !old.sameLoad(new) {
		j.doubt(p, "not comparable: an old run has %s, and a new run has %s", old.load(), new.load())
	}
}
