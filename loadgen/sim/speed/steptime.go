package speed

import (
	"fmt"
	"math"
	"time"
)

// A StepTime is the formula for a step's time, before stalls and spells. With B requests decoding
// and P prompt tokens prefilled it is
//
//	Base + D(B) + F(P) − Overlap · min(D(B), F(P))
//	+ Attention · Σ c·(x + c/2) + Context · Σ L + Far, if an L's prompt is beyond 8192 tokens
//
// times a log-normal factor of spread Jitter. D is PerSequence · B plus a line through the Knots, F
// is PerPromptToken · P. A prefilled chunk has c tokens after x tokens of its prompt; a decoding
// request has L tokens, its prompt and output so far.
type StepTime struct {
	Cost      `yaml:",inline"`
	Knots     []Knot        `yaml:"knots"`     // with Requests ascending
	Attention time.Duration `yaml:"attention"` // for each pair of prompt tokens
	Context   time.Duration `yaml:"context"`   // for each token so far of a decoding request
	Far       time.Duration `yaml:"far"`       // if a request with a prompt beyond 8192 tokens decodes
	Jitter    float64       `yaml:"jitter"`    // standard deviation of the factor's logarithm

	// Overlap is the share of the shorter of decoding and prefill that costs nothing,
	// from 0 to 1.
	Overlap float64 `yaml:"overlap"`
}

// A Knot is a point of the line that gives the time of decoding. The line begins at 0 for no
// requests. After the last knot it keeps its slope.
type Knot struct {
	Requests int           `yaml:"requests"`
	Time     time.Duration `yaml:"time"`
}

// of is the time of a step that does b's work, before jitter, in nanoseconds. sharing lengthens its
// parts.
func (s *StepTime) of(b Batch, sharing Sharing) float64 {
	decode := sharing.Base * (float64(s.PerSequence)*b.Decoding + s.line(b.Decoding))
	prefill := sharing.Prompt * float64(s.PerPromptToken) * b.Prompt
	t := sharing.Base*float64(s.Base) + decode + prefill - s.Overlap*min(decode, prefill)
	t += float64(s.Attention)*b.Attended + float64(s.Context)*b.Context
	return t + float64(s.Far)*min(1, b.Far)
}

// line is the line through the knots at n requests.
func (s *StepTime) line(n float64) float64 {
	var from, to Knot
	for _, k := range s.Knots {
		from, to = to, k
		if n <= float64(k.Requests) {
			break
		}
	}
	if to == from {
		return 0
	}
	slope := float64(to.Time-from.Time) / float64(to.Requests-from.Requests)
	return float64(from.Time) + slope*(n-float64(from.Requests))
}

func (s *StepTime) check() error {
	if s.Base < 0 || s.PerSequence < 0 || s.PerPromptToken < 0 || s.Attention < 0 || s.Context < 0 || s.Far < 0 ||
		!(s.Jitter >= 0) || math.IsInf(s.Jitter, 0) {
		return fmt.Errorf("step times and jitter must not be negative")
	}
	if !(s.Overlap >= 0 && s.Overlap <= 1) {
		return fmt.Errorf("overlap must be from 0 to 1")
	}
	last := Knot{}
	for _, k := range s.Knots {
		if k.Requests <= last.Requests || k.Time < last.Time {
			return fmt.Errorf("the requests of knots must ascend from 1 on, and their times not descend")
		}
		last = k
	}
	return nil
}

// A Cost says how long a step takes:
//
//	Base + PerSequence · (decoding requests) + PerPromptToken · (prompt tokens prefilled)
type Cost struct {
	Base           time.Duration `yaml:"base"`
	PerSequence    time.Duration `yaml:"per-sequence"`
	PerPromptToken time.Duration `yaml:"per-prompt-token"`
}

// DefaultCost resembles a model of a few billion parameters on one GPU: 5 ms between tokens, 20 ms
// for a prompt of 750 tokens.
func DefaultCost() Cost {
	return Cost{Base: 5 * time.Millisecond, PerSequence: 50 * time.Microsecond, PerPromptToken: 20 * time.Microsecond}
}
