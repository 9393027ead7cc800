package dataset

import (
	"fmt"
	"strconv"

	"github.com/servebench/servebench/dataset/nprand"
)

// randomPrompts is a checked Random and what follows from its fields alone.
type randomPrompts struct {
	Random
	vocab   int   // size of the vocabulary
	allowed []int // ids that a prompt is made of, ascending
	inputs  span  // tokens after the prefix
	outputs span
}

func (d Random) prompts() (*randomPrompts, error) {
	p := &randomPrompts{Random: d, vocab: d.VocabSize}
	special := 0
	var forbidden []int
	if d.Tokenizer != nil {
		p.vocab = d.Tokenizer.VocabSize()
		special = d.Tokenizer.NumSpecial()
		forbidden = d.Tokenizer.SpecialIDs()
	}
	if err := d.check(special); err != nil {
		return nil, err
	}
	if p.allowed = without(p.vocab, forbidden); len(p.allowed) == 0 {
		return nil, fmt.Errorf("a vocabulary of %d tokens leaves none to make prompts of", p.vocab)
	}
	p.inputs = around(max(0, d.InputLen-special), d.Ratio.Input)
	p.outputs = around(d.OutputLen, d.Ratio.Output)
	p.outputs = span{max(p.outputs.low, 1), max(p.outputs.high, 1)}
	return p, nil
}

// source yields the conversations. The order of draws is that of the real
// program: three columns, the prefix, and then what fitting takes.
func (p *randomPrompts) source(yield func(*Conversation, error) bool) {
	rng := nprand.NewGenerator(uint64(p.Seed))
	inputs := newColumn(&rng, p.inputs, p.Num)
	outputs := newColumn(&rng, p.outputs, p.Num)
	offsets := newColumn(&rng, span{0, p.vocab - 1}, p.Num)
	prefix := p.prefix(&rng)
	surplus := 0
	for i := range p.Num {
		length := inputs.next()
		turn := Turn{OutputLen: outputs.next()}
		ids := p.ids(prefix, offsets.next()+i, length)
		if p.Tokenizer == nil {
			turn.TokenIDs = ids
		} else {
			turn.Prompt, ids = p.fit(&rng, ids, p.PrefixLen+length)
		}
		turn.PromptLen = len(ids)
		surplus += len(ids) - (p.PrefixLen + length)
		if !yield(&Conversation{ID: p.IDPrefix + strconv.Itoa(i), Turns: []Turn{turn}}, nil) {
			return
		}
	}
	p.noticeSurplus("prompts", surplus)
}

// prefix makes the tokens that all prompts begin with.
func (p *randomPrompts) prefix(rng *nprand.Generator) []int {
	if p.PrefixLen == 0 {
		return nil
	}
	ids := make([]int, p.PrefixLen)
	for i := range ids {
		ids[i] = p.allowed[rng.Integers(0, int64(len(p.allowed)))]
	}
	if p.Tokenizer != nil {
		_, ids = p.fit(rng, ids, p.PrefixLen)
		p.noticeSurplus("prefix", len(ids)-p.PrefixLen)
	}
	return ids
}

// ids is a prompt before it is fitted: the prefix, and then length successive
// allowed ids from the one at start on.
func (p *randomPrompts) ids(prefix []int, start, length int) []int {
	ids := make([]int, 0, len(prefix)+length)
	ids = append(ids, prefix...)
	for at := start % len(p.allowed); length > 0; length-- {
		ids = append(ids, p.allowed[at])
		if at++; at == len(p.allowed) {
			at = 0
		}
	}
	return ids
}

// fitRetries is how often fit tries again.
const fitRetries = 10

// fit turns ids into text and back until they are want many, as a text need not
// have the tokens that it was made of: what is missing is drawn, what is too much
// is cut. The text that it gives is the one that the ids were last read from.
func (p *randomPrompts) fit(rng *nprand.Generator, ids []int, want int) (string, []int) {
	for retries := 0; ; retries++ {
		text := p.Tokenizer.Decode(ids)
		ids = p.Tokenizer.Encode(text, false)
		if len(ids) == want || retries == fitRetries {
			return text, ids
		}
		for len(ids) < want {
			ids = append(ids, int(rng.Integers(0, int64(p.vocab))))
		}
		ids = ids[:want]
	}
}

func (p *randomPrompts) noticeSurplus(what string, surplus int) {
	switch {
	case surplus > 0:
		notice(p.Log, "random %s: %d tokens more than asked for, as encoding their text does not give back their tokens", what, surplus)
	case surplus < 0:
		notice(p.Log, "random %s: %d tokens fewer than asked for, as encoding their text does not give back their tokens", what, -surplus)
	}
}

// without is the ids of a vocabulary less the forbidden ones.
func without(vocab int, forbidden []int) []int {
	barred := make(map[int]bool, len(forbidden))
	for _, id := range forbidden {
		barred[id] = true
	}
	ids := make([]int, 0, max(0, vocab-len(forbidden)))
	for id := range vocab {
		if !barred[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// A column is one vector of draws. It does not hold them, but draws them anew as
// they are asked for, with a copy of the generator from before the first.
type column struct {
	rng nprand.Generator
	span
}

// newColumn makes a column of n draws, and has rng go on behind them.
func newColumn(rng *nprand.Generator, s span, n int) *column {
	c := &column{*rng, s}
	behind := column{*rng, s}
	for range n {
		behind.next()
	}
	*rng = behind.rng
	return c
}

func (c *column) next() int { return int(c.rng.Integers(int64(c.low), int64(c.high)+1)) }
