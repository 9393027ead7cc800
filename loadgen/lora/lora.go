// Package lora says which LoRA adapter each request asks for in place of the model.
//
// Servers serve many adapters of one model, and name each like a model. A Choice names the adapters
// of a load, and decides which conversation gets which. It draws as vLLM's client does: one name for
// each conversation, in the order of the dataset, so the shards of a run agree about all of them.
package lora

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
)

// A Choice names adapters, and says how often each is asked for. The zero value has none: requests
// ask for the model.
type Choice struct {
	// Names are the adapters. A name that is there twice is drawn twice as often.
	Names []string

	// InTurn takes the names one after the other, and begins again after the last. Otherwise they are
	// drawn at random.
	InTurn bool

	// Weights says how often each name is drawn, in any unit; nil for all equally often.
	Weights []float64
}

// Check refuses names that no request can have, and weights that do not fit the names.
func (c *Choice) Check() error {
	if slices.Contains(c.Names, "") {
		return errors.New("a name is empty")
	}
	if c.Weights == nil {
		return nil
	}
	switch total := c.shares(); {
	case c.InTurn:
		return errors.New("names that are taken in turn have no weights")
	case len(c.Weights) != len(c.Names):
		return fmt.Errorf("%d weights for %d names: each name needs one", len(c.Weights), len(c.Names))
	case len(c.Names) == 0:
		return nil
	case slices.ContainsFunc(c.Weights, func(w float64) bool { return !(w >= 0) }):
		return errors.New("a weight must be a number from 0 on")
	case total[len(total)-1] == 0:
		return errors.New("all weights are 0")
	case math.IsInf(total[len(total)-1], 1):
		return errors.New("the weights are too large: their sum is infinite")
	}
	return nil
}

// shares are the weights, each with those before it.
func (c *Choice) shares() []float64 {
	shares := slices.Clone(c.Weights)
	for i := 1; i < len(shares); i++ {
		shares[i] += shares[i-1]
	}
	return shares
}

// Zipf are the weights of n names of which the kth is asked for 1/k^s times as often as the first,
// with the exponent s ≥ 0 (G. K. Zipf, "Human Behavior and the Principle of Least Effort", 1949).
func Zipf(n int, s float64) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = nprand.Pow(float64(i+1), -s)
	}
	return weights
}

// Assign gives each conversation of src its adapter. Names are drawn by a copy of rng: as
// random.choice does or, with Weights, as random.choices does, one at a time. Conversations keep the
// adapter that they have. Without Names it is src.
func (c *Choice) Assign(src dataset.Source, rng *nprand.Python) dataset.Source {
	if len(c.Names) == 0 {
		return src
	}
	return func(yield func(*dataset.Conversation, error) bool) {
		draw := c.drawer(*rng)
		for conversation, err := range src {
			if name := draw(); err == nil && conversation.Adapter == "" {
				named := *conversation
				named.Adapter = name
				conversation = &named
			}
			if !yield(conversation, err) {
				return
			}
		}
	}
}

// drawer returns what draws one name after the other.
func (c *Choice) drawer(rng nprand.Python) func() string {
	n := len(c.Names)
	switch {
	case c.InTurn:
		next := 0
		return func() string {
			name := c.Names[next]
			next = (next + 1) % n
			return name
		}
	case c.Weights != nil:
		shares := c.shares()
		return func() string {
			at := rng.Random() * shares[n-1]
			return c.Names[sort.Search(n-1, func(i int) bool { return shares[i] > at })]
		}
	}
	return func() string { return c.Names[rng.Intn(n)] }
}
