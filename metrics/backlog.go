package metrics

import (
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// The bins of a backlog. A run of 20 s has bins of 10 ms, a run of a day bins of at most 82 s: a
// backlog that matters grows over a good part of the run.
const (
	backlogBins  = 2048
	backlogWidth = 10 * time.Millisecond
)

// A backlog counts by time how many requests were due, and how many of them have ended. The
// difference up to a time is the backlog then: the requests in flight and those that wait for a
// slot. When a run outgrows the bins they become twice as wide, so it never takes more than 48 KiB.
// Each bin begins at a multiple of its width, so the order in which requests are added does not
// matter.
type backlog struct {
	Width  time.Duration // of a bin
	Origin int64         // time of the first bin, in widths
	Bins   []backlogBin  // backlogBins at most
}

// A backlogBin is one stretch of a backlog. Only a conversation's first turn counts as due, since
// each later turn is due when the previous one ends; the conversation ends with its last turn.
type backlogBin struct {
	Began int           // conversations due
	Ended int           // that ended
	Took  time.Duration // sum from due to end, over the requests due then
}

func (b *backlogBin) add(other backlogBin) {
	b.Began += other.Began
	b.Ended += other.Ended
	b.Took += other.Took
}

// mean is how long a request took.
func (b backlogBin) mean() time.Duration { return Share(b.Took, b.Began) }

// add counts a request, measured or of the warm-up.
func (b *backlog) add(r *record.Record) {
	due := backlogBin{Began: 1, Took: r.Times.End - r.Times.Due}
	if r.Turn > 0 {
		due.Began, due.Ended = 0, -1
	}
	b.put(r.Times.Due, due)
	b.put(r.Times.End, backlogBin{Ended: 1})
}

func (b *backlog) put(at time.Duration, what backlogBin) {
	if len(b.Bins) == 0 {
		b.Width = max(b.Width, backlogWidth)
		b.Origin, b.Bins = tally.FloorDiv(int64(at), int64(b.Width)), []backlogBin{{}}
	}
	i := tally.FloorDiv(int64(at), int64(b.Width))
	for max(i, b.Origin+int64(len(b.Bins))-1)-min(i, b.Origin) >= backlogBins {
		b.widen()
		i = tally.FloorDiv(int64(at), int64(b.Width))
	}
	if short := b.Origin - i; short > 0 {
		b.Bins = slices.Insert(b.Bins, 0, make([]backlogBin, short)...)
		b.Origin = i
	}
	if short := i + 1 - b.Origin - int64(len(b.Bins)); short > 0 {
		b.Bins = append(b.Bins, make([]backlogBin, short)...)
	}
	b.Bins[i-b.Origin].add(what)
}

// widen makes the bins twice as wide.
func (b *backlog) widen() {
	origin := tally.FloorDiv(b.Origin, 2)
	wide := make([]backlogBin, tally.FloorDiv(b.Origin+int64(len(b.Bins))-1, 2)-origin+1)
	for i, bin := range b.Bins {
		wide[tally.FloorDiv(b.Origin+int64(i), 2)-origin].add(bin)
	}
	b.Width, b.Origin, b.Bins = 2*b.Width, origin, wide
}

// merge adds another backlog, whose clock began that much later. Each bin goes where its middle
// then is.
func (b *backlog) merge(other *backlog, later time.Duration) {
	for len(b.Bins) > 0 && b.Width < other.Width {
		b.widen()
	}
	b.Width = max(b.Width, other.Width)
	for i, bin := range other.Bins {
		if bin != (backlogBin{}) {
			b.put(time.Duration(other.Origin+int64(i))*other.Width+other.Width/2+later, bin)
		}
	}
}

// Backlog says how the number of requests grew that were due and had not ended, while requests were
// due at an even rate. They are in flight, or wait for a slot of --max-concurrency.
type Backlog struct {
	Judged  bool    // there was enough data to judge; if not, the rest is 0, except for Early and Late
	Over    Window  // the part that was judged, on the clock of the Records
	Offered float64 // requests due a second
	Growth  float64 // of the backlog, in requests a second
	Chance  float64 // largest growth that chance explains, in requests a second

	// Early and Late are the mean times from due to end in either half, if nothing was judged and
	// the later requests took longer; else 0.
	Early, Late time.Duration
}

// grows reports that the server did not keep up: the backlog grew by more than chance explains, and
// by a part of the rate that matters.
func (b Backlog) grows() bool { return b.Judged && b.Growth > max(b.Chance, GrowthLimit*b.Offered) }

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
func (b *backlog) growth(from time.Duration) Backlog {
	g := grower{backlog: b}
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
func (b *backlog) slower() (found Backlog) {
	all := 0
	for _, bin := range b.Bins {
		all += bin.Began
	}
	var early, late backlogBin
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
	*backlog
	offered    float64 // a bin
	begin, per int     // the first bin to look at, and the bins in a stretch
	stretches  [growthStretches]backlogBin
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
	var seen backlogBin
	i := first
	for ; i < len(g.Bins) && seen.Began < wanted; i++ {
		seen.add(g.Bins[i])
	}
	return i + int(min(settledTimes*seen.mean()/g.Width, backlogBins))
}

// judge computes the growth over the stretches. It finds nothing if too few requests ended, if the
// backlog grew a lot but perhaps by chance, or if it grows like a server that fills up.
func (g *grower) judge() Backlog {
	early, late := g.half(0), g.half(growthStretches/2)
	if early.Ended+late.Ended < growthStretches || early.Began == 0 || late.Began == 0 {
		return Backlog{}
	}
	n := float64(growthStretches * g.per)
	ends := float64(early.Ended+late.Ended) / n
	growth := float64(early.Began+late.Began)/n - ends
	beyond := growthQuantile * g.deviation(ends) / math.Sqrt(growthStretches)
	second := 1 / g.Width.Seconds() // in bins
	b := Backlog{
		Judged: true, Offered: g.offered * second, Growth: growth * second,
		Chance: (beyond + growth - (g.offered - ends)) * second,
		Over:   Window{g.at(g.begin), g.at(g.begin + g.per*growthStretches)},
	}
	if !b.grows() && b.Growth > unprovenLimit*b.Offered {
		return Backlog{}
	}
	filling := float64(late.Ended-early.Ended) / (n / 2)
	slower := float64(late.mean()-early.mean()) / float64(g.Width) / (n / 2)
	if b.grows() && (filling > fillingLimit*growth || slower < slowerLimit*growth/ends) {
		return Backlog{}
	}
	return b
}

// half is the sum of half of the stretches, from that one on.
func (g *grower) half(from int) (all backlogBin) {
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
