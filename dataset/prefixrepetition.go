package dataset

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/servebench/servebench/dataset/nprand"
)

// PrefixRepetition makes prompts of random tokens, many with the same beginning, as vLLM's
// prefix_repetition dataset does. Each prefix begins Num/NumPrefixes prompts, and the rest of Num
// is dropped. The prompts have no request ids. The seed is 0 to 2³²−1. DisableShuffle keeps prompts
// with the same beginning together.
//
// vLLM's client draws arrival times from the generator that made the prompts, so Open makes all of
// them once, to find the generator's state at the end. It does not keep them: it makes them again,
// on all cores, as they are pulled.
type PrefixRepetition struct {
	Options
	PrefixLen   int // tokens
	SuffixLen   int // tokens after the prefix
	NumPrefixes int // at most Num
	OutputLen   int // tokens to ask for
}

// Open makes the prompts once. It returns the source and the number of its
// conversations.
func (d PrefixRepetition) Open() (Source, int, error) {
	if err := d.check(); err != nil {
		return nil, 0, err
	}
	p := &repeatedPrompts{PrefixRepetition: d}
	if p.vocab, _ = d.vocabulary(); p.vocab < 1 {
		return nil, 0, errNoTokens(p.vocab)
	}
	rng := nprand.NewRandomState(uint32(d.Seed))
	p.make(rng)
	if d.NumPy != nil {
		*d.NumPy = *rng
	}
	order := indices(len(p.starts))
	shuffler := nprand.NewPython(d.Seed)
	if !d.DisableShuffle {
		shuffler.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	d.leave(shuffler)
	if dropped := d.Num - len(order); dropped > 0 {
		d.Notice("prefix_repetition: %d of %d prompts are dropped, as they do not divide among %d prefixes", dropped, d.Num,
			d.NumPrefixes)
	}
	return Parallel(slices.Values(order), ahead, func(i int) (*Conversation, error) {
		return &Conversation{Turns: []Turn{p.turn(i)}}, nil
	}), len(order), nil
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
	}
	return d.checkSeed()
}

// repeatedPrompts is a checked PrefixRepetition with the data to make each prompt again.
type repeatedPrompts struct {
	PrefixRepetition
	vocab    int
	prefixes [][]int
	starts   []uint64 // words that the generator had drawn before each suffix
	trail    trail
}

// make draws all prompts, and notes where each begins.
func (p *repeatedPrompts) make(rng *nprand.RandomState) {
	each := p.Num / p.NumPrefixes
	p.starts = make([]uint64, 0, each*p.NumPrefixes)
	for range p.NumPrefixes {
		p.prefixes = append(p.prefixes, p.tokens(rng, p.PrefixLen))
		for range each {
			p.trail.pass(rng)
			p.starts = append(p.starts, rng.Drawn())
			p.tokens(rng, p.SuffixLen)
		}
	}
}

// turn makes prompt i again. Prefix and suffix are fitted separately, never together.
func (p *repeatedPrompts) turn(i int) Turn {
	prefix := p.prefixes[i/(p.Num/p.NumPrefixes)]
	ids := slices.Concat(prefix, p.tokens(p.trail.at(p.starts[i]), p.SuffixLen))
	turn := Turn{OutputLen: p.OutputLen}
	p.fill(&turn, ids)
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

// trailStep is the number of words between two marks of a trail. A mark takes the
// memory of 624 words, and drawing a step takes microseconds.
const trailStep = 1 << 16

// A trail finds earlier states of a generator. The zero value is empty.
type trail struct{ marks []nprand.RandomState }

// pass marks the position of rng, once for each step. The first position must be passed.
func (t *trail) pass(rng *nprand.RandomState) {
	if n := len(t.marks); n == 0 || rng.Drawn() >= t.marks[n-1].Drawn()+trailStep {
		t.marks = append(t.marks, *rng)
	}
}

// at is a generator that has drawn so many words, a position that was passed.
func (t *trail) at(drawn uint64) *nprand.RandomState {
	behind := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].Drawn() > drawn })
	rng := t.marks[behind-1]
	rng.Skip(drawn - rng.Drawn())
	return &rng
}
