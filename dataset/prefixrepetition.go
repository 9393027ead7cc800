package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// PrefixRepetition makes prompts of random tokens of which many begin alike: those
// of vLLM's prefix_repetition dataset. Each of the prefixes begins Num/NumPrefixes
// prompts, and what is left of Num is dropped. The prompts have no request ids.
//
// vLLM's client draws arrival times from the generator that made the prompts, so
// Open makes all of them once, to know where it ends. It does not keep them: they
// are made again, on all cores, as they are pulled.
type PrefixRepetition struct {
	Tokenizer      tokenizer.Tokenizer // nil: prompts are sent as token ids, and not fitted
	VocabSize      int                 // ids are below it; not looked at with a Tokenizer
	Num            int                 // conversations wanted, at least NumPrefixes
	PrefixLen      int                 // tokens
	SuffixLen      int                 // tokens after the prefix
	NumPrefixes    int
	OutputLen      int   // tokens to ask for
	Seed           int64 // 0 to 2³²−1
	DisableShuffle bool  // keep prompts that begin alike together
	Log            func(format string, args ...any)

	// NumPy, if not nil, is numpy's global generator. Open seeds it and leaves it
	// where arrival times are drawn from.
	NumPy *nprand.RandomState
}

// Open makes the prompts once, and gives the source and the number of
// conversations it yields.
func (d PrefixRepetition) Open() (Source, int, error) {
	if err := d.check(); err != nil {
		return nil, 0, err
	}
	p := &repeatedPrompts{PrefixRepetition: d, vocab: d.VocabSize}
	if d.Tokenizer != nil {
		p.vocab = d.Tokenizer.VocabSize()
	}
	if p.vocab < 1 {
		return nil, 0, fmt.Errorf("a vocabulary of %d tokens leaves none to make prompts of", p.vocab)
	}
	rng := nprand.NewRandomState(uint32(d.Seed))
	p.make(rng)
	if d.NumPy != nil {
		*d.NumPy = *rng
	}
	order := make([]int, len(p.starts))
	for i := range order {
		order[i] = i
	}
	if !d.DisableShuffle {
		nprand.NewPython(d.Seed).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	if dropped := d.Num - len(order); dropped > 0 {
		notice(d.Log, "prefix_repetition: %d of %d prompts are dropped, as they do not divide among %d prefixes", dropped, d.Num, d.NumPrefixes)
	}
	source := func(yield func(*Conversation, error) bool) {
		for turn := range ordered(slices.Values(order), p.turn) {
			if !yield(&Conversation{Turns: []Turn{turn}}, nil) {
				return
			}
		}
	}
	return source, len(order), nil
}

func (d PrefixRepetition) check() error {
	switch {
	case d.NumPrefixes < 1:
		return fmt.Errorf("number of prefixes %d: must be at least 1", d.NumPrefixes)
	case d.Num < d.NumPrefixes:
		return fmt.Errorf("num_requests (%d) must be greater than or equal to num_prefixes (%d)", d.Num, d.NumPrefixes)
	case d.PrefixLen < 0 || d.SuffixLen < 0:
		return fmt.Errorf("prefix length %d and suffix length %d: must not be negative", d.PrefixLen, d.SuffixLen)
	case d.PrefixLen+d.SuffixLen == 0:
		return errors.New("prefix and suffix length are 0: prompts would be empty")
	case d.OutputLen < 1:
		return fmt.Errorf("output length %d: must be at least 1", d.OutputLen)
	case d.Seed < 0 || d.Seed > math.MaxUint32:
		return fmt.Errorf("seed %d: must be between 0 and %d", d.Seed, uint32(math.MaxUint32))
	}
	return nil
}

// repeatedPrompts is a checked PrefixRepetition, and how to make each prompt again.
type repeatedPrompts struct {
	PrefixRepetition
	vocab    int
	prefixes [][]int
	starts   []uint64 // what the generator had drawn before each suffix
	trail    trail
}

// make draws all prompts, and remembers where each begins.
func (p *repeatedPrompts) make(rng *nprand.RandomState) {
	each := p.Num / p.NumPrefixes
	for range p.NumPrefixes {
		p.prefixes = append(p.prefixes, p.tokens(rng, p.PrefixLen))
		for range each {
			p.trail.pass(rng)
			p.starts = append(p.starts, rng.Drawn())
			p.tokens(rng, p.SuffixLen)
		}
	}
}

// turn makes prompt i again. Prefix and suffix were fitted each for itself, and
// are not looked at together.
func (p *repeatedPrompts) turn(i int) Turn {
	prefix := p.prefixes[i/(p.Num/p.NumPrefixes)]
	ids := slices.Concat(prefix, p.tokens(p.trail.at(p.starts[i]), p.SuffixLen))
	turn := Turn{PromptLen: len(ids), OutputLen: p.OutputLen}
	if p.Tokenizer == nil {
		turn.TokenIDs = ids
	} else {
		turn.Prompt = p.Tokenizer.Decode(ids)
	}
	return turn
}

// tokens draws a fitted sequence of tokens.
func (p *repeatedPrompts) tokens(rng *nprand.RandomState, want int) []int {
	draw := func() int { return int(rng.Intn(int64(p.vocab))) }
	f := fitting{ids: make([]int, want), want: want}
	for i := range f.ids {
		f.ids[i] = draw()
	}
	if p.Tokenizer != nil {
		f.settle(p.Tokenizer)
		f.finish(p.Tokenizer, draw)
	}
	return f.ids
}
