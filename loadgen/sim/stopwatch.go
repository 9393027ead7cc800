package sim

import (
	"math"
	"math/rand/v2"
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
