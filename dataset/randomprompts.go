package dataset

import (
	"iter"
	"sync"

	"github.com/servebench/servebench/dataset/nprand"
)

// randomPrompts is a checked Random, with values derived from its fields.
type randomPrompts struct {
	of      Random
	vocab   int   // size of the vocabulary
	allowed []int // ids that a prompt is made of, ascending
	inputs  span  // tokens after the prefix
	outputs span

	// The surplus is reported once, however often the prompts are made.
	toldPrefix, toldPrompts sync.Once
}

func (d Random) prompts() (*randomPrompts, error) {
	p := &randomPrompts{of: d}
	if err := d.check(); err != nil {
		return nil, err
	}
	var forbidden []int
	p.vocab, forbidden = d.vocabulary()
	if p.allowed = without(p.vocab, forbidden); len(p.allowed) == 0 {
		return nil, errNoTokens(p.vocab)
	}
	p.inputs = around(max(0, d.InputLen-d.special()), d.Ratio.Input)
	p.outputs = around(d.OutputLen, d.Ratio.Output)
	p.outputs = span{max(p.outputs.low, 1), max(p.outputs.high, 1)}
	d.Notice("Sampling input_len from [%d, %d] and output_len from [%d, %d]",
		p.inputs.low, p.inputs.high, p.outputs.low, p.outputs.high)
	return p, nil
}

// source yields the conversations.
func (p *randomPrompts) source(yield func(*Conversation, error) bool) {
	for c := range drawn(p, func(*nprand.Generator) struct{} { return struct{}{} }) {
		if !yield(c, nil) {
			return
		}
	}
}

// drawn yields the conversations, each with what more returned after its prompt.
func drawn[T any](p *randomPrompts, more func(*nprand.Generator) T) iter.Seq2[*Conversation, T] {
	return func(yield func(*Conversation, T) bool) {
		rng := nprand.NewGenerator(uint64(p.of.Seed))
		p.draw(&rng, func(c *Conversation) bool { return yield(c, more(&rng)) })
	}
}

// draw yields the conversations. It draws in the order of vLLM's client: three columns, the prefix,
// and then what fitting needs. Only the fitting must run in order; everything before it is done
// ahead, on all cores.
func (p *randomPrompts) draw(rng *nprand.Generator, yield func(*Conversation) bool) {
	drafts := p.drafts(rng)
	p.settled(drafts, p.prefix(rng), rng, yield)
}

// settled yields the conversations of drafts.
func (p *randomPrompts) settled(drafts iter.Seq[promptDraft], prefix []int, rng *nprand.Generator,
	yield func(*Conversation) bool) {
	settled := ordered(drafts, width(p.of.PrefixLen+p.inputs.high), func(d promptDraft) promptDraft {
		d.ids = p.ids(prefix, d.start, d.want-p.of.PrefixLen)
		if p.of.Tokenizer != nil {
			d.settle(p.of.Tokenizer)
		}
		return d
	})
	i, surplus := 0, 0
	for d := range settled {
		turn := Turn{OutputLen: d.outputLen}
		if p.of.Tokenizer == nil {
			turn.TokenIDs = d.ids
		} else {
			d.finish(p.of.Tokenizer, p.drawID(rng))
			turn.Prompt = d.text
		}
		turn.PromptLen = len(d.ids)
		surplus += d.surplus()
		if !yield(p.of.Conversation(i, turn)) {
			return
		}
		i++
	}
	p.toldPrompts.Do(func() { p.noticeSurplus("prompts", surplus) })
}

// A promptDraft is a prompt whose first id after the prefix is the allowed id at start.
type promptDraft struct {
	fitting
	start, outputLen int
}

// drafts draws the columns of all prompts from rng at once, and yields a draft for
// each prompt.
func (p *randomPrompts) drafts(rng *nprand.Generator) iter.Seq[promptDraft] {
	inputs := newColumn(rng, p.inputs, p.of.Num)
	outputs := newColumn(rng, p.outputs, p.of.Num)
	offsets := newColumn(rng, span{0, p.vocab - 1}, p.of.Num)
	return func(yield func(promptDraft) bool) {
		for i := range p.of.Num {
			d := promptDraft{fitting{want: p.of.PrefixLen + inputs.next()}, offsets.next() + i, outputs.next()}
			if !yield(d) {
				return
			}
		}
	}
}

// drawID is a function that draws an id for a prompt with too few.
func (p *randomPrompts) drawID(rng *nprand.Generator) func() int {
	return func() int { return int(rng.Integers(0, int64(p.vocab))) }
}

// prefix makes the common beginning of all prompts.
func (p *randomPrompts) prefix(rng *nprand.Generator) []int {
	if p.of.PrefixLen == 0 {
		return nil
	}
	ids := make([]int, p.of.PrefixLen)
	for i := range ids {
		ids[i] = p.allowed[rng.Integers(0, int64(len(p.allowed)))]
	}
	if p.of.Tokenizer != nil {
		f := fitting{ids: ids, want: p.of.PrefixLen}
		f.settle(p.of.Tokenizer)
		f.finish(p.of.Tokenizer, p.drawID(rng))
		p.toldPrefix.Do(func() { p.noticeSurplus("prefix", f.surplus()) })
		ids = f.ids
	}
	return ids
}

// ids is a prompt before it is fitted: the prefix, and then length successive allowed ids,
// beginning with the one at start.
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

func (p *randomPrompts) noticeSurplus(what string, surplus int) {
	direction := "more"
	if surplus < 0 {
		surplus, direction = -surplus, "fewer"
	}
	if surplus != 0 {
		p.of.Notice("random %s: %d tokens %s than asked for, as encoding their text does not give back their tokens", what,
			surplus, direction)
	}
}

// without is the ids of a vocabulary except the forbidden ones.
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

// A column is one vector of draws. It does not hold them, but draws them again when needed, from a
// copy of the generator.
type column struct {
	rng nprand.Generator
	span
}

// newColumn makes a column of n draws, and draws them from rng.
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
