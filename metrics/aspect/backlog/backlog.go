// Package backlog is whether the server of a run kept up with the rate: how many requests were due and had not
// ended, as time went on.
package backlog

import (
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// A Backlog is of all requests of a run, also of its warm-up.
type Backlog struct {
	Trend  // of the requests so far
	config *metrics.Config
	bins   bins
	due    tally.Extent // when the measured requests that open a conversation were due
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "backlog", New: func(h *metrics.Header) metrics.Aspect { return &Backlog{config: &h.Config} },
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Backlog { return metrics.View[Backlog](s) }

// Add adds a measured request.
func (b *Backlog) Add(r *record.Record) {
	b.bins.add(r)
	if r.Phase == record.Main && r.Turn == 0 {
		b.due.Add(r.Times.Due)
	}
}

// AddWarmUp adds a request of the warm-up. A backlog of the warm-up goes on in the measured part.
func (b *Backlog) AddWarmUp(r *record.Record) { b.bins.add(r) }

// Shift moves all times.
func (b *Backlog) Shift(later time.Duration) {
	if later == 0 {
		return
	}
	moved := Backlog{config: b.config}
	moved.bins.merge(&b.bins, later)
	moved.due.Merge(b.due, later)
	*b = moved
}

// Merge adds another shard's requests.
func (b *Backlog) Merge(o metrics.Aspect) {
	other := o.(*Backlog)
	b.bins.merge(&other.bins, 0)
	b.due.Merge(other.due, 0)
}

// Sum has the Trend, if requests were due at an even rate.
func (b *Backlog) Sum(float64) metrics.Aspect {
	sum := new(Backlog)
	if b.config.Even() && b.due.Any {
		sum.Trend = b.bins.growth(b.due.First)
	}
	return sum
}

// The bins of a backlog. A run of 20 s has bins of 10 ms, a run of a day bins of at most 82 s: a
// backlog that matters grows over a good part of the run.
const (
	mostBins   = 2048
	leastWidth = 10 * time.Millisecond
)

// Bins count by time how many requests were due, and how many of them have ended. The
// difference up to a time is the backlog then: the requests in flight and those that wait for a
// slot. When a run outgrows the bins they become twice as wide, so it never takes more than 48 KiB.
// Each bin begins at a multiple of its width, so the order in which requests are added does not
// matter.
type bins struct {
	Width  time.Duration // of a bin
	Origin int64         // time of the first bin, in widths
	Bins   []bin         // mostBins at most
}

// A bin is one stretch of a run. Only a conversation's first turn counts as due, since
// each later turn is due when the previous one ends; the conversation ends with its last turn.
type bin struct {
	Began int           // conversations due
	Ended int           // that ended
	Took  time.Duration // sum from due to end, over the requests due then
}

func (b *bin) add(other bin) {
	b.Began += other.Began
	b.Ended += other.Ended
	b.Took += other.Took
}

// mean is how long a request took.
func (b bin) mean() time.Duration { return metrics.Share(b.Took, b.Began) }

// add counts a request, measured or of the warm-up.
func (b *bins) add(r *record.Record) {
	due := bin{Began: 1, Took: r.Times.End - r.Times.Due}
	if r.Turn > 0 {
		due.Began, due.Ended = 0, -1
	}
	b.put(r.Times.Due, due)
	b.put(r.Times.End, bin{Ended: 1})
}

func (b *bins) put(at time.Duration, what bin) {
	if len(b.Bins) == 0 {
		b.Width = max(b.Width, leastWidth)
		b.Origin, b.Bins = tally.FloorDiv(int64(at), int64(b.Width)), []bin{{}}
	}
	i := tally.FloorDiv(int64(at), int64(b.Width))
	for max(i, b.Origin+int64(len(b.Bins))-1)-min(i, b.Origin) >= mostBins {
		b.widen()
		i = tally.FloorDiv(int64(at), int64(b.Width))
	}
	if short := b.Origin - i; short > 0 {
		b.Bins = slices.Insert(b.Bins, 0, make([]bin, short)...)
		b.Origin = i
	}
	if short := i + 1 - b.Origin - int64(len(b.Bins)); short > 0 {
		b.Bins = append(b.Bins, make([]bin, short)...)
	}
	b.Bins[i-b.Origin].add(what)
}

// widen makes the bins twice as wide.
func (b *bins) widen() {
	origin := tally.FloorDiv(b.Origin, 2)
	wide := make([]bin, tally.FloorDiv(b.Origin+int64(len(b.Bins))-1, 2)-origin+1)
	for i, bin := range b.Bins {
		wide[tally.FloorDiv(b.Origin+int64(i), 2)-origin].add(bin)
	}
	b.Width, b.Origin, b.Bins = 2*b.Width, origin, wide
}

// merge adds the bins of another shard, whose clock began that much later. Each bin goes where its middle
// then is.
func (b *bins) merge(other *bins, later time.Duration) {
	for len(b.Bins) > 0 && b.Width < other.Width {
		b.widen()
	}
	b.Width = max(b.Width, other.Width)
	for i, one := range other.Bins {
		if one != (bin{}) {
			b.put(time.Duration(other.Origin+int64(i))*other.Width+other.Width/2+later, one)
		}
	}
}

// Trend says how the number of requests grew that were due and had not ended, while requests were
// due at an even rate. They are in flight, or wait for a slot of --max-concurrency.
type Trend struct {
	// Judged says that there was enough data to judge. If not, the rest is 0, except for Early and Late.
	Judged  bool
	Over    metrics.Window // the part that was judged, on the clock of the Records
	Offered float64        // requests due a second
	Growth  float64        // of the backlog, in requests a second
	Chance  float64        // largest growth that chance explains, in requests a second

	// Early and Late are the mean times from due to end in either half, if nothing was judged and
	// the later requests took longer; else 0.
	Early, Late time.Duration
}

// Grows reports that the server did not keep up: the backlog grew by more than chance explains, and
// by a part of the rate that matters.
func (b Trend) Grows() bool { return b.Judged && b.Growth > max(b.Chance, GrowthLimit*b.Offered) }

// How the growth of a backlog is judged. Of simulated runs at 50 to 90 % of a server's capacity,
// fewer than one in a thousand is called overloaded.
const (
	// A server at 105 % of its capacity is hard to distinguish from one at 95 %.
	GrowthLimit = 0.05 // of the rate

	// Completions in one stretch of time depend on the previous stretch. The means of a dozen
	// stretches hardly do, so they give an honest error of their mean: the method of batch means,
	// Law, Simulation Modeling and Analysis, 5th ed., 9.5.3.
	growthStretches = 12
	growthQuantile  = 3.106 // of Student's t, 99.5 % with 11 degrees of freedom

	// At first the server fills up: its backlog grows by everything that is due until the first
	// requests have ended. By twice their mean time, nine of ten have.
	settledFirst = 20 // one in so many requests counts as first,
	settledLeast = 10 // but at least so many,
	settledMost  = 30 // and at most so many
	settledTimes = 2  // of their mean time
	settledShare = 10 // leave out one in so many parts of the run, however short that is

	// A backlog that grew by more than this, but not by more than chance explains, proves neither
	// that the server keeps up nor that it does not.
	unprovenLimit = 0.1 // of the rate

	// Later a server may still fill up slowly. Its completions then keep growing.
	fillingLimit = 0.5 // of the growth, by which the second half completes more than the first

	// A growing backlog makes later requests take longer: in order, each second of growth g at
	// completions d makes them wait g/d s more. Without that, there are only more requests in
	// flight, each as quick as before.
	slowerLimit = 0.5 // of g/d

	// A run too short to judge gets a note if requests of its second half took this many times as
	// long as requests of the first.
	slowerTimes = 1.5
)

// growth looks at the backlog from a time on until the last request was due. It finds nothing if
// the server has not settled by then, or still fills up.
//
// With A(t) requests due by t, D(t) ended and N = A − D the backlog, the growth is (N(T) − N(s))/(T
// − s), where s is when the server had settled and T when the last request was due. What comes
// later, such as the tail of slow answers, does not count. It is beyond chance if the rate d at
// which requests ended is below the rate λ at which they were due by more than t·s_d/√12: 12
// stretches of equal length give the standard deviation s_d of their rates, and Student's t the
// limit. Since λ is known and not estimated, this test is sharper than one on N.
func (b *bins) growth(from time.Duration) Trend {
	g := grower{bins: b}
	if !g.find(from) {
		return b.slower()
	}
	for i := range g.stretches {
		part := &g.stretches[i]
		for _, bin := range b.Bins[g.begin+i*g.per : g.begin+(i+1)*g.per] {
			part.add(bin)
		}
	}
	if judged := g.judge(); judged.Judged {
		return judged
	}
	return b.slower()
}

// slower checks whether later requests took longer, in a run with too little data to judge.
func (b *bins) slower() (found Trend) {
	all := 0
	for _, bin := range b.Bins {
		all += bin.Began
	}
	var early, late bin
	for _, bin := range b.Bins {
		if early.Began < all/2 {
			early.add(bin)
		} else {
			late.add(bin)
		}
	}
	if min(early.Began, late.Began) >= settledLeast && float64(late.mean()) > slowerTimes*float64(early.mean()) {
		found.Early, found.Late = early.mean(), late.mean()
	}
	return found
}

// A grower computes the growth of a backlog.
type grower struct {
	*bins
	offered    float64 // a bin
	begin, per int     // the first bin to look at, and the bins in a stretch
	stretches  [growthStretches]bin
}

// find reports whether there are enough bins to look at.
func (g *grower) find(from time.Duration) bool {
	first, last, all := -1, 0, 0
	for i, bin := range g.Bins {
		if bin.Began > 0 && first < 0 {
			first = i
		}
		if bin.Began > 0 {
			last, all = i, all+bin.Began
		}
	}
	if first < 0 {
		return false
	}
	long := last + 1 - first
	g.offered = float64(all) / float64(long)
	measured := max(first, int(tally.FloorDiv(int64(from), int64(g.Width))-g.Origin))
	g.begin = max(first+long/settledShare, g.settled(first, all), measured)
	g.per = (last + 1 - g.begin) / growthStretches
	g.begin = last + 1 - g.per*growthStretches
	return g.per > 0 && 3*g.per*growthStretches >= last+1-measured
}

// settled is the bin by which most of the first requests had ended.
func (g *grower) settled(first, all int) int {
	wanted := min(max(all/settledFirst, settledLeast), settledMost)
	var seen bin
	i := first
	for ; i < len(g.Bins) && seen.Began < wanted; i++ {
		seen.add(g.Bins[i])
	}
	return i + int(min(settledTimes*seen.mean()/g.Width, mostBins))
}

// judge computes the growth over the stretches. It finds nothing if too few requests ended, if the
// backlog grew a lot but perhaps by chance, or if it grows like a server that fills up.
func (g *grower) judge() Trend {
	early, late := g.half(0), g.half(growthStretches/2)
	if early.Ended+late.Ended < growthStretches || early.Began == 0 || late.Began == 0 {
		return Trend{}
	}
	n := float64(growthStretches * g.per)
	ends := float64(early.Ended+late.Ended) / n
	growth := float64(early.Began+late.Began)/n - ends
	beyond := growthQuantile * g.deviation(ends) / math.Sqrt(growthStretches)
	second := 1 / g.Width.Seconds() // in bins
	b := Trend{
		Judged: true, Offered: g.offered * second, Growth: growth * second,
		Chance: (beyond + growth - (g.offered - ends)) * second,
		Over:   metrics.Window{From: g.at(g.begin), To: g.at(g.begin + g.per*growthStretches)},
	}
	if !b.Grows() && b.Growth > unprovenLimit*b.Offered {
		return Trend{}
	}
	filling := float64(late.Ended-early.Ended) / (n / 2)
	slower := float64(late.mean()-early.mean()) / float64(g.Width) / (n / 2)
	if b.Grows() && (filling > fillingLimit*growth || slower < slowerLimit*growth/ends) {
		return Trend{}
	}
	return b
}

// half is the sum of half of the stretches, from that one on.
func (g *grower) half(from int) (all bin) {
	for _, part := range g.stretches[from : from+growthStretches/2] {
		all.add(part)
	}
	return all
}

// deviation is the standard deviation of the stretches' rates of completion, whose mean is given,
// both for a bin. Counts are whole numbers, each within one half of the true value.
func (g *grower) deviation(mean float64) float64 {
	const rounding = 1.0 / 12 // variance of a uniform distribution of width one
	sum := 0.0
	for _, part := range g.stretches {
		off := float64(part.Ended) - mean*float64(g.per)
		sum += off * off
	}
	return math.Sqrt(max(sum/(growthStretches-1), rounding)) / float64(g.per)
}

// at is when a bin begins.
func (g *grower) at(bin int) time.Duration { return time.Duration(g.Origin+int64(bin)) * g.Width }
