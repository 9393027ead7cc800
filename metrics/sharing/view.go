package sharing

import (
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/targets"
)

// step is the width of the bins of a View.
const step = 5 * time.Millisecond

// A View is what the targets of one run did in each bin of 5 ms, on the one clock that they have,
// while all of them were loaded.
type View struct {
	names  []string
	series []series // of each target
	same   [][2]int // targets that get requests at the same times
}

// A series is what one target did in each bin.
type series struct {
	gaps    []float64 // sum of the gaps between tokens that end there, in ms
	ended   []float64 // how many
	prefill []float64 // prompt tokens in prefill
	decoded []float64 // requests that get tokens, for a part of the bin as that part of one
}

// viewOf is a View of the run with all targets; nil if it has no single requests, or if the targets
// were not loaded at the same time.
func viewOf(g *targets.Group) *View {
	loaded, ok := g.Loaded()
	if !ok {
		return nil
	}
	v := &View{}
	bins := int((loaded.To - loaded.From) / step)
	dues := make([]map[time.Duration]bool, len(g.Shared))
	for i, s := range g.Shared {
		v.names = append(v.names, s.Header.Target)
		c := series{make([]float64, bins), make([]float64, bins), make([]float64, bins), make([]float64, bins)}
		dues[i] = map[time.Duration]bool{}
		later := g.Lead(s) - loaded.From
		for r := range s.Measured() {
			dues[i][r.Times.Due+g.Lead(s)] = true
			c.take(r, later)
		}
		v.series = append(v.series, c)
	}
	for i := range dues {
		for j := range i {
			if alike(dues[i], dues[j]) {
				v.same = append(v.same, [2]int{j, i})
			}
		}
	}
	return v
}

// Keep adds the views of the groups of the runs by their IDs, for Loads.
func Keep(views map[string]*View, sums []*metrics.Summary) {
	for _, g := range targets.Groups(sums) {
		if len(g.Shared) > 1 {
			views[g.ID] = viewOf(&g)
		}
	}
}

// inOrder is the view with its targets in the order of names: files of single targets may come in any
// order. It is nil for no view, and for one that lacks a target.
func (v *View) inOrder(names []string) *View {
	if v == nil {
		return nil
	}
	ordered := &View{names: names}
	for _, name := range names {
		i := slices.Index(v.names, name)
		if i < 0 {
			return nil
		}
		ordered.series = append(ordered.series, v.series[i])
	}
	for _, s := range v.same {
		i, j := slices.Index(names, v.names[s[0]]), slices.Index(names, v.names[s[1]])
		ordered.same = append(ordered.same, [2]int{min(i, j), max(i, j)})
	}
	return ordered
}

// alike reports that most requests of the target with fewer are due when one of the other is. All at
// once are one time, which says nothing.
func alike(a, b map[time.Duration]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for due := range a {
		if b[due] {
			both++
		}
	}
	return both > 1 && 2*both > len(a)
}

// take adds a request, whose clock began that much later than the first bin.
func (c *series) take(r *record.Record, later time.Duration) {
	if r.Answer.Chunks.Len() == 0 || r.Answer.Unstreamed || r.Answer.Chunks.First() <= r.Times.Sent {
		return
	}
	sent, first, last := r.Times.Sent+later, r.Answer.Chunks.First()+later, r.Answer.Chunks.Last()+later
	tokens := float64(r.Tokens.In) / (first - sent).Seconds() * step.Seconds()
	spread(c.prefill, sent, first, tokens)
	spread(c.decoded, first, last, 1)
	at := first
	for gap := range r.Answer.Chunks.Gaps() {
		at += gap
		if k := int(math.Floor(float64(at) / float64(step))); k >= 0 && k < len(c.gaps) {
			c.gaps[k] += float64(gap) / float64(time.Millisecond)
			c.ended[k]++
		}
	}
}

// spread adds a value to each bin between two times, and a part of it to a bin that is only partly
// there.
func spread(bins []float64, from, to time.Duration, value float64) {
	from, to = max(from, 0), min(to, time.Duration(len(bins))*step)
	for k := int(from / step); k < len(bins) && time.Duration(k)*step < to; k++ {
		here := min(to, time.Duration(k+1)*step) - max(from, time.Duration(k)*step)
		bins[k] += value * here.Seconds() / step.Seconds()
	}
}

// gap is the mean gap between tokens in ms; NaN without gaps.
func (v *View) gap() float64 {
	sum, n := 0.0, 0.0
	for i := range v.series {
		for k, ended := range v.series[i].ended {
			sum, n = sum+v.series[i].gaps[k], n+ended
		}
	}
	return sum / n
}

// coarser is the view with bins of so many of the bins: their mean gap, NaN without gaps, and the means
// of the others.
func (v *View) coarser(n int) (all []signals) {
	for i := range v.series {
		c := &v.series[i]
		s := signals{}
		for from := 0; from+n <= len(c.gaps); from += n {
			to := from + n
			s.gap = append(s.gap, sum(c.gaps[from:to])/sum(c.ended[from:to]))
			s.prefill = append(s.prefill, sum(c.prefill[from:to])/float64(n))
			s.decoded = append(s.decoded, sum(c.decoded[from:to])/float64(n))
		}
		all = append(all, s)
	}
	return all
}

// signals are what one target did in each bin.
type signals struct{ gap, prefill, decoded []float64 }

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}
