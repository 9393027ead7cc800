// Package cost is what a run cost: the energy that its GPUs took, and money.
//
// A Meter collects what GPUs reported, each with its time, and integrates it over any part of the
// run. A counter of energy is exact at its readings; without one, the trapezoids under the readings
// of power are the energy.
package cost

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"
)

// mostMissing is how many usual intervals may pass without a reading.
const mostMissing = 5

// Energy is what GPUs took during a span of time.
type Energy struct {
	Joules  float64 // NaN if unknown
	Seconds float64 // length of the span
	GPUs    int
	Counted bool    // all GPUs have counters of energy: nothing was integrated
	Share   float64 // part of the GPUs' energy that Joules is; 1 for all of it
	Unknown string  // why Joules is unknown; empty if it is known
}

// Watts is the mean power, NaN if unknown.
func (e *Energy) Watts() float64 { return per(e.Joules, e.Seconds) }

// PerToken is the energy for each of so many tokens, in J. It is NaN if the energy is unknown, and
// without tokens.
func (e *Energy) PerToken(tokens int) float64 { return per(e.Joules, float64(max(tokens, 0))) }

// TokensPerJoule is the inverse of PerToken: tokens a second for each watt.
func (e *Energy) TokensPerJoule(tokens int) float64 { return per(float64(max(tokens, 0)), e.Joules) }

// per is a ratio; NaN unless both numbers are there.
func per(v, of float64) float64 {
	if !(of > 0) {
		return math.NaN()
	}
	return v / of
}

// A Meter keeps the readings of GPUs, 24 bytes each. The zero value is ready. Only one goroutine may
// use it.
type Meter struct{ gpus map[int][]reading }

// A reading is what a GPU reported at an offset; NaN is unknown.
type reading struct {
	at            time.Duration
	watts, joules float64
}

// Add adds what a GPU reported at an offset of the run: its power in W, and a counter of its energy
// in J. What it did not report is nil.
func (m *Meter) Add(gpu int, at time.Duration, watts, joules *float64) {
	if watts == nil && joules == nil {
		return
	}
	if m.gpus == nil {
		m.gpus = map[int][]reading{}
	}
	known := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	m.gpus[gpu] = append(m.gpus[gpu], reading{at, known(watts), known(joules)})
}

// Merge adds the readings of another Meter, whose clock began that much later.
func (m *Meter) Merge(other *Meter, later time.Duration) {
	for gpu, readings := range other.gpus {
		for _, r := range readings {
			m.Add(gpu, r.at+later, &r.watts, &r.joules)
		}
	}
}

// Curve is the power of all GPUs over time, as their readings tell it.
func (m *Meter) Curve() Curve {
	var c Curve
	for _, gpu := range slices.Sorted(maps.Keys(m.gpus)) {
		readings := slices.Clone(m.gpus[gpu])
		slices.SortStableFunc(readings, func(a, b reading) int { return cmp.Compare(a.at, b.at) })
		l := gpuCurve{gpu: gpu, counted: true, pieces: counter(readings)}
		if len(l.pieces) == 0 {
			l.counted, l.pieces = false, power(readings)
		}
		var lengths []time.Duration
		for _, p := range l.pieces {
			lengths = append(lengths, p.to-p.from)
		}
		if slices.Sort(lengths); lengths != nil {
			l.usual = lengths[len(lengths)/2]
		}
		c = append(c, l)
	}
	return c
}

// A Curve is the power of GPUs over time. It does not change.
type Curve []gpuCurve

// A gpuCurve is the power of one GPU over time.
type gpuCurve struct {
	gpu     int
	counted bool          // by a counter of energy
	pieces  []piece       // without gaps, in order
	usual   time.Duration // median length of a piece
}

// Energy is what all GPUs took from one offset to another. It is unknown if a GPU has no reading for
// longer than five of its usual intervals, and if its readings cover less than half of that time.
// Before the first reading and after the last one, the power is as at that reading.
func (c Curve) Energy(from, to time.Duration) Energy {
	e := Energy{Seconds: (to - from).Seconds(), GPUs: len(c), Counted: true, Share: 1}
	for _, l := range c {
		joules, why := l.joules(from, to)
		if why != "" {
			e.Joules, e.Unknown = math.NaN(), fmt.Sprintf("GPU %d %s", l.gpu, why)
			return e
		}
		e.Joules += joules
		e.Counted = e.Counted && l.counted
	}
	return e
}

// joules is the energy from one time to another, or why it is unknown.
func (l *gpuCurve) joules(from, to time.Duration) (sum float64, unknown string) {
	if len(l.pieces) == 0 {
		return 0, "reported no second value"
	}
	first, last := l.pieces[0], l.pieces[len(l.pieces)-1]
	longest := max(first.from-from, to-last.to)
	begin := sort.Search(len(l.pieces), func(i int) bool { return l.pieces[i].to > from })
	for _, p := range l.pieces[begin:] {
		if p.from >= to {
			break
		}
		if p.first < 0 {
			return 0, "has a counter of energy that went back"
		}
		longest = max(longest, p.to-p.from)
		sum += p.joules(from, to)
	}
	covered := max(0, min(to, last.to)-max(from, first.from))
	switch {
	case longest > mostMissing*l.usual:
		return 0, fmt.Sprintf("reported nothing for %.1f s", longest.Seconds())
	case covered < (to-from)/2:
		return 0, fmt.Sprintf("reported on only %.1f of %.1f s", covered.Seconds(), (to - from).Seconds())
	}
	sum += first.first * max(0, min(to, first.from)-from).Seconds()
	return sum + last.last*max(0, to-max(from, last.to)).Seconds(), ""
}

// A piece is the time between two readings, with the power at both, in W.
type piece struct {
	from, to    time.Duration
	first, last float64
}

// at is the power at a time within p.
func (p piece) at(t time.Duration) float64 {
	return p.first + (p.last-p.first)*(float64(t-p.from)/float64(p.to-p.from))
}

// joules is the energy in the part of p from one time to another.
func (p piece) joules(from, to time.Duration) float64 {
	if from, to = max(from, p.from), min(to, p.to); to <= from {
		return 0
	}
	return (p.at(from) + p.at(to)) / 2 * (to - from).Seconds()
}

// power are the pieces between readings of power.
func power(readings []reading) (all []piece) {
	var last *reading
	for i := range readings {
		r := &readings[i]
		if !(r.watts >= 0) || last != nil && r.at <= last.at {
			continue
		}
		if last != nil {
			all = append(all, piece{last.at, r.at, last.watts, r.watts})
		}
		last = r
	}
	return all
}

// counter are the pieces between readings of a counter, none without one that moves. A reading that repeats the
// last one is of an earlier time, as an exporter reads the GPU less often than it is asked. So is the
// first reading, if the second repeats it.
func counter(readings []reading) (all []piece) {
	readings = slices.DeleteFunc(slices.Clone(readings), func(r reading) bool { return math.IsNaN(r.joules) })
	if len(readings) == 0 {
		return nil
	}
	fresh := len(readings) > 1 && readings[1].joules != readings[0].joules
	last := readings[0]
	for _, r := range readings[1:] {
		if r.joules == last.joules || r.at <= last.at {
			continue
		}
		if fresh {
			watts := (r.joules - last.joules) / (r.at - last.at).Seconds()
			all = append(all, piece{last.at, r.at, watts, watts})
		}
		last, fresh = r, true
	}
	return all
}
