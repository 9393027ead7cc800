package faults

import (
	"fmt"
	"math/rand/v2"
)

// A Plan says when to misbehave and how. Without Probability and Every, the faults apply to all
// requests.
type Plan struct {
	List        []Fault
	Probability float64 // chance to apply to a request, drawn from a seed and its number
	Every       int     // they apply to requests number Every-1, 2·Every-1, …
}

// Check reports values that mean nothing.
func (p *Plan) Check() error {
	if p.Probability < 0 || p.Probability > 1 {
		return fmt.Errorf("the probability of faults must be from 0 to 1")
	}
	if p.Every < 0 {
		return fmt.Errorf("faults cannot meet every %d requests", p.Every)
	}
	for _, fault := range p.List {
		if err := fault.check(); err != nil {
			return err
		}
	}
	return nil
}

// A Choice is the faults of one request.
type Choice []Fault

// With reports whether a kind of fault was chosen, and its argument.
func (c Choice) With(kind string) (n int, chosen bool) {
	for _, f := range c {
		if f.Kind == kind {
			return f.N, true
		}
	}
	return 0, false
}

// Has reports whether a kind of fault was chosen.
func (c Choice) Has(kind string) bool {
	_, chosen := c.With(kind)
	return chosen
}

// Choose returns the faults of a request, by its number: what its header asks for, or else what the plan
// says, which is drawn from the seed.
func (p *Plan) Choose(header string, seed uint64, number int64) (Choice, error) {
	if header != "" {
		return Parse(header)
	}
	if len(p.List) == 0 {
		return nil, nil
	}
	if p.Probability == 0 && p.Every == 0 {
		return p.List, nil
	}
	chance := rand.New(rand.NewPCG(seed, uint64(number)))
	if p.Every > 0 && (number+1)%int64(p.Every) == 0 || chance.Float64() < p.Probability {
		return p.List, nil
	}
	return nil, nil
}
