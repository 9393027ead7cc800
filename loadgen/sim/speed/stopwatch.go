package speed

import (
	"math"
	"math/rand/v2"
	"time"
)

// Gather is how long after its start a step is composed. So one step sees everything that arrives
// at one instant, whichever goroutine ran first. It is part of the step's time.
const Gather = time.Microsecond

// A Stopwatch draws the times of successive steps of one server. It belongs to one
// goroutine.
type Stopwatch struct {
	profile *Profile
	gpu     *GPU       // nil if no GPU is shared
	rand    *rand.Rand // of jitter and stalls
	spells  spells
}

// NewStopwatch makes the stopwatch of a server on a GPU, nil if none is shared. Equal seeds give equal times.
func NewStopwatch(p *Profile, gpu *GPU, seed uint64) *Stopwatch {
	return &Stopwatch{p, gpu, rand.New(rand.NewPCG(seed, 0)),
		spells{Spells: p.Spells, rand: rand.New(rand.NewPCG(seed, 1))}}
}

// Step is the time of a step that starts at an instant. Instants must not go back.
func (w *Stopwatch) Step(b Batch, at time.Time) time.Duration {
	t := w.profile.Step.of(b, w.sharing(b))
	if jitter := w.profile.Step.Jitter; jitter > 0 {
		t *= math.Exp(jitter * w.rand.NormFloat64())
	}
	if stall := w.profile.Stalls; stall.Probability > 0 && w.rand.Float64() < stall.Probability {
		t += float64(stall.Mean) * w.rand.ExpFloat64()
	}
	if w.spells.on(at) {
		t *= w.spells.Factor
	}
	return max(time.Duration(math.Round(t)), 2*Gather)
}

// Work tells the GPU that the server has requests, until Rest.
func (w *Stopwatch) Work() { w.gpu.work(w) }

// Rest tells the GPU that the server has no requests.
func (w *Stopwatch) Rest() { w.gpu.rest(w) }

// Mean is the mean time of a step in nanoseconds, if no GPU is shared.
func (p *Profile) Mean(b Batch) float64 {
	alone := Stopwatch{profile: p}
	t := p.Step.of(b, alone.sharing(b)) * math.Exp(p.Step.Jitter*p.Step.Jitter/2)
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
