package sim

import "time"

// A Cost says how long a step takes:
//
//	Base + PerSequence · (decoding requests) + PerPromptToken · (prompt tokens prefilled)
type Cost struct {
	Base           time.Duration `yaml:"base"`
	PerSequence    time.Duration `yaml:"per-sequence"`
	PerPromptToken time.Duration `yaml:"per-prompt-token"`
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
