package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// A Cost says how long a step takes:
//
//	Base + PerSequence · (decoding requests) + PerPromptToken · (prompt tokens prefilled)
type Cost struct {
	Base           time.Duration
	PerSequence    time.Duration
	PerPromptToken time.Duration
}

// DefaultCost feels like a model of a few billion parameters on one GPU: 5 ms
// between tokens, 20 ms for a prompt of 750 tokens.
func DefaultCost() Cost {
	return Cost{Base: 5 * time.Millisecond, PerSequence: 50 * time.Microsecond, PerPromptToken: 20 * time.Microsecond}
}

// Step is the time of a step in which that many requests decode and that many
// prompt tokens are prefilled, before jitter.
func (c Cost) Step(decoding, prompt int) time.Duration {
	return c.Base + time.Duration(decoding)*c.PerSequence + time.Duration(prompt)*c.PerPromptToken
}

// gather is how long after its start a step is put together. Whatever arrives
// at one instant is thereby seen by one step, in the order of sequence.before,
// whichever goroutine happened to run first. It is part of the step's time.
const gather = time.Microsecond

// A stopwatch draws the times of successive steps.
type stopwatch struct {
	cost   Cost
	jitter float64
	rand   *rand.Rand
}

func (w *stopwatch) step(b batch) time.Duration {
	d := w.cost.Step(b.decoding, b.prompt)
	if w.jitter > 0 {
		d = time.Duration(float64(d) * math.Exp(w.jitter*w.rand.NormFloat64()))
	}
	return max(d, 2*gather)
}
