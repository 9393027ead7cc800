package sweep

import (
	"slices"
	"time"
)

// A history is the runs of a plan that have been made, in order.
type history struct {
	plan    *Plan
	entries []entry
	of      map[string][]entry // the same by the keys of their cells
}

func newHistory(p *Plan, entries ...entry) *history {
	h := &history{plan: p, of: map[string][]entry{}}
	for _, e := range entries {
		h.add(e)
	}
	return h
}

func (h *history) add(e entry) {
	h.entries = append(h.entries, e)
	h.of[e.Cell] = append(h.of[e.Cell], e)
}

// runs are the runs of a cell so far.
func (h *history) runs(c cell) []entry { return h.of[h.plan.key(c)] }

// over reports whether a cell has all its runs.
func (h *history) over(c cell) bool {
	past := h.runs(c)
	if h.plan.Search == nil {
		return len(past) > 0
	}
	_, over := h.plan.Search.next(probes(past))
	return over
}

// edge is the result of a cell's search; not known before the search is over.
func (h *history) edge(c cell) (found edge, known bool) {
	search := h.plan.Search
	if search == nil {
		return edge{}, false
	}
	past := probes(h.runs(c))
	_, known = search.next(past)
	return search.edge(past), known
}

// disturbed are the repeats of a sequential sweep that its runs say are disturbed, by their numbers, and how.
func (h *history) disturbed() map[int]string {
	found := map[int]string{}
	if h.plan.Sequential == nil || slices.Contains(h.plan.Sequential.Gate.Despite, "suspect") {
		return found
	}
	repeats := map[string]int{}
	for _, c := range h.plan.cells() {
		repeats[h.plan.key(c)] = c.repeat + 1
	}
	for _, e := range h.entries {
		if e.Disturbed != "" && e.Failed == "" {
			found[repeats[e.Cell]] = e.Disturbed
		}
	}
	return found
}

// expected are the blocks of the plan, without pairs that are only made if others are disturbed from now on.
func (h *history) expected() [][]cell {
	blocks := h.plan.blocks()
	if h.plan.Sequential == nil {
		return blocks
	}
	whole := func(block []cell) bool {
		return !slices.ContainsFunc(block, func(c cell) bool { return !h.over(c) })
	}
	made := 0
	for made < len(blocks) && whole(blocks[made]) {
		made++
	}
	arms := len(h.plan.Arms)
	so := pairsOf(made/arms, h.disturbed())
	return blocks[:min(len(blocks), (so.repeats+max(0, so.left(h.plan)))*arms)]
}

// left is how long the rest may take, from the actual and the expected times of the finished runs.
// A failed run says nothing about the others.
func (h *history) left() (left time.Duration, known bool) {
	var took, of, rest float64 // seconds: actual and expected for finished runs, and expected for the rest
	expected := map[string]float64{}
	for _, block := range h.expected() {
		for _, c := range block {
			seconds := h.plan.loads.first(c).time().Seconds()
			expected[h.plan.key(c)] = seconds
			rest += seconds * float64(estimate{h.plan}.runs())
		}
	}
	for _, e := range h.entries {
		rest -= expected[e.Cell]
		if e.Failed == "" {
			took += e.Seconds
			of += expected[e.Cell]
		}
	}
	if took == 0 {
		return 0, false
	}
	return time.Duration(max(0, rest) * took / of * float64(time.Second)), true
}

// unpaired reports that a run of the last of so many repeats failed.
func (h *history) unpaired(repeats int) bool {
	for _, c := range h.plan.cells() {
		if past := h.runs(c); c.repeat == repeats-1 && (len(past) == 0 || past[len(past)-1].Failed != "") {
			return true
		}
	}
	return false
}

// pairTime is how long one of the repeats so far took, with the starts of its servers.
func (h *history) pairTime(repeats int) time.Duration {
	seconds := 0.0
	for _, c := range h.plan.cells() {
		if c.repeat < repeats {
			for _, e := range h.runs(c) {
				seconds += e.Seconds
			}
		}
	}
	return time.Duration(seconds / float64(repeats) * float64(time.Second))
}
