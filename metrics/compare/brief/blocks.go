package brief

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
func (r *Run) prompt() float64 { return PerRequest([]*Run{r}, func(r *Run) int { return r.Input }) }

// far says whether two known numbers differ by more than blockMargin.
func far(a, b float64) bool { return math.Max(a, b) > (1+blockMargin)*math.Min(a, b) }

// SameLoad says whether two runs may have had the same load.
func (r *Run) SameLoad(other *Run) bool {
	return !far(r.requests(), other.requests()) && !far(r.prompt(), other.prompt())
}

// Load describes the load of a block.
func (r *Run) Load() string {
	text := metrics.Counted(int(r.requests()), "request")
	if tokens := r.prompt(); !math.IsNaN(tokens) {
		text += fmt.Sprintf(" with %s prompt tokens each", metrics.Readable(tokens, 0))
	}
	return text
}

// UnlikeBlocks is the error for result blocks of different loads on a side, nil if there are none.
func UnlikeBlocks(side string, runs []*Run) error {
	first := slices.IndexFunc(runs, (*Run).IsBlock)
	if first < 0 || !slices.ContainsFunc(runs, func(r *Run) bool { return r.IsBlock() && !r.SameLoad(runs[first]) }) {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "the %s result blocks have different loads, so no number can stand for all of them:\n", side)
	for i, r := range runs {
		if r.IsBlock() {
			fmt.Fprintf(&text, "  block %d: %s\n", i+1, r.Load())
		}
	}
	fmt.Fprintf(&text, "choose blocks of one load by their numbers in the file, as FILE:%d", first+1)
	return fmt.Errorf("%s", text.String())
}

// PerRequest is the mean number of tokens of completed requests; NaN if unknown, or if none completed.
func PerRequest(runs []*Run, of func(*Run) int) float64 {
	tokens, requests := 0.0, 0.0 // their sums may be beyond an int
	for _, r := range runs {
		if of(r) < 0 || r.Completed < 0 {
			return math.NaN()
		}
		tokens += float64(of(r))
		requests += float64(r.Completed)
	}
	if requests == 0 {
		return math.NaN()
	}
	return tokens / requests
}
