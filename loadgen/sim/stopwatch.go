package sim

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// gather is how long after its start a step is composed. So one step sees everything that arrives
// at one instant, in the order of sequence.before, whichever goroutine ran first. It is part of the
// step's time.
const gather = time.Microsecond

// A stopwatch draws the times of successive steps.
type stopwatch struct {
	profile *Profile
	gpu     *GPU       // nil if no GPU is shared
	rand    *rand.Rand // of jitter and stalls
	spells  spells
}

func newStopwatch(p *Profile, gpu *GPU, seed uint64) stopwatch {
	return stopwatch{p, gpu, rand.New(rand.NewPCG(seed, 0)), spells{Spells: p.Spells, rand: rand.New(rand.NewPCG(seed, 1))}}
}

// step is the time of a step that starts at an instant.
func (w *stopwatch) step(b batch, at time.Time) time.Duration {
	t := w.profile.Step.of(b, w.gpu.sharing(w.profile.Sharing))
	if jitter := w.profile.Step.Jitter; jitter > 0 {
		t *= math.Exp(jitter * w.rand.NormFloat64())
	}
	if stall := w.profile.Stalls; stall.Probability > 0 && w.rand.Float64() < stall.Probability {
		t += float64(stall.Mean) * w.rand.ExpFloat64()
	}
	if w.spells.on(at) {
		t *= w.spells.Factor
	}
	return max(time.Duration(math.Round(t)), 2*gather)
}

// mean is the mean time of a step in nanoseconds.
func (w *stopwatch) mean(b batch) float64 {
	p := w.profile
	t := p.Step.of(b, w.gpu.sharing(p.Sharing)) * math.Exp(p.Step.Jitter*p.Step.Jitter/2)
	t += p.Stalls.Probability * float64(p.Stalls.Mean)
	on := 1 - math.Exp(-p.Spells.PerSecond*p.Spells.Last.Seconds())
	return t * (1 + on*(p.Spells.Factor-1))
}

// spells are the slow periods of a run. They begin whether or not there is work, from the first
// step on.
type spells struct {
	Spells
	rand        *rand.Rand
	next, until time.Time
}

// on reports whether a spell is on at an instant. Instants must not go back.
func (s *spells) on(at time.Time) bool {
	if s.PerSecond == 0 {
		return false
	}
	if s.next.IsZero() {
		s.next = at.Add(s.gap())
	}
	for !at.Before(s.next) {
		s.until = s.next.Add(s.Last)
		s.next = s.next.Add(s.gap())
	}
	return at.Before(s.until)
}

func (s *spells) gap() time.Duration {
	return time.Duration(s.rand.ExpFloat64() / s.PerSecond * float64(time.Second))
}

// A GPU is shared by the servers whose Config names it. A server's step takes longer by its
// profile's Sharing for each other server that has requests when the step begins. Without Sharing,
// the servers take turns: with two servers, a step takes twice as long. The zero value is ready to
// use.
type GPU struct{ working atomic.Int64 }

// sharing is how much longer a step takes that begins now, for a server at work. Without a GPU, the
// profile's value always holds.
func (g *GPU) sharing(s Sharing) Sharing {
	if g == nil {
		return Sharing{orElse(s.Base, 1), orElse(s.Prompt, 1)}
	}
	others := float64(g.working.Load() - 1)
	return Sharing{1 + others*(orElse(s.Base, 2)-1), 1 + others*(orElse(s.Prompt, 2)-1)}
}

// work counts an engine that has work, until rest.
func (g *GPU) work() {
	if g != nil {
		g.working.Add(1)
	}
}

func (g *GPU) rest() {
	if g != nil {
		g.working.Add(-1)
	}
}
