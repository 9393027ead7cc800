package dataset

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
)

// Random makes prompts of random tokens: the prompts of vLLM's random dataset since v0.11.1, token for
// token. It makes prompts as they are pulled, so a dataset of any size takes the same memory. The
// seed is not negative.
//
// Up to v0.9.2 vLLM's client drew the prompts from numpy's global generator. Open leaves NumPy in
// the state in which that client left it, but makes the prompts of later versions.
type Random struct {
	Options
	InputLen  int // tokens of a prompt, with special tokens and without the prefix
	OutputLen int // tokens to ask for
	PrefixLen int // tokens that all prompts begin with
	Ratio     RangeRatio
}

// Open checks the fields. It returns the source and the number of its conversations.
func (d Random) Open() (Source, int, error) {
	special := d.special()
	if low := around(max(0, d.InputLen-special), d.Ratio.Input).low; d.PrefixLen+low < 1 {
		return nil, 0, fmt.Errorf("--random-input-len is too small: with tokenizer special tokens %d and input range "+
			"ratio %s, "+
			"the minimum possible total input tokens (prefix + sampled) is %d. Increase --random-input-len and/or "+
			"--random-prefix-len, or decrease the input range ratio so that prefix_len + "+
			"floor(max(0, random_input_len - num_special)) * (1 - input_range_ratio) >= 1",
			special, pythonFloat(d.Ratio.Input), d.PrefixLen+low)
	}
	p, err := d.prompts()
	if err != nil {
		return nil, 0, err
	}
	if d.NumPy != nil {
		*d.NumPy = *p.formerDraws()
	}
	d.leave(nprand.NewPython(d.Seed))
	return p.source, d.Num, nil
}

// OpenRandom opens a Random for a dataset that draws more from its generator, with more, after each
// prompt. It yields each conversation with what more returned. Its prompts may be empty.
func OpenRandom[T any](d Random, more func(*nprand.Generator) T) (iter.Seq2[*Conversation, T], error) {
	p, err := d.prompts()
	if err != nil {
		return nil, err
	}
	return drawn(p, more), nil
}

// OpenLed opens d.Num prompts and one that comes before them: it has d's InputLen, and rest is the
// InputLen of the others, by the length that was drawn for the first. Prompts may be empty.
func OpenLed(d Random, rest func(led int) int) (iter.Seq[*Conversation], error) {
	others := d
	if d.Num > 0 {
		d.Num = 1
	}
	first, err := d.prompts()
	if err != nil {
		return nil, err
	}
	rng := nprand.NewGenerator(uint64(d.Seed))
	for led := range first.drafts(&rng) {
		others.InputLen = rest(led.want)
	}
	then, err := others.prompts()
	if err != nil {
		return nil, err
	}
	return func(yield func(*Conversation) bool) {
		rng := nprand.NewGenerator(uint64(d.Seed))
		led, others := first.drafts(&rng), then.drafts(&rng)
		then.settled(func(yield func(promptDraft) bool) {
			for d := range led {
				if !yield(d) {
					return
				}
			}
			for d := range others {
				if d.start++; !yield(d) {
					return
				}
			}
		}, nil, &rng, yield)
	}, nil
}

// special is how many tokens the tokenizer adds to a prompt.
func (d Random) special() int {
	if d.Tokenizer == nil {
		return 0
	}
	return d.Tokenizer.NumSpecial()
}

func (d Random) check() error {
	if err := d.CheckNum(); err != nil {
		return err
	}
	switch {
	case d.PrefixLen < 0:
		return fmt.Errorf("prefix length %d: must not be negative", d.PrefixLen)
	case d.Seed < 0:
		return fmt.Errorf("seed %d: must not be negative", d.Seed)
	case d.NumPy != nil && d.Seed > math.MaxUint32:
		return fmt.Errorf("seed %d: must be at most %d", d.Seed, uint32(math.MaxUint32))
	}
	if err := d.Ratio.check(); err != nil {
		return fmt.Errorf("range ratio: %w", err)
	}
	return nil
}

// formerDraws is numpy's generator after the draws of vLLM's dataset up to v0.9.2: the prefix, then
// a column each of input lengths, output lengths and offsets.
func (p *randomPrompts) formerDraws() *nprand.RandomState {
	rng := nprand.NewRandomState(uint32(p.of.Seed))
	around := func(n int, ratio float64) span {
		return span{int(float64(n) * (1 - ratio)), int(float64(n) * (1 + ratio))}
	}
	ids := span{0, p.vocab - 1}
	for _, column := range []struct {
		span
		n int
	}{
		{ids, p.of.PrefixLen},
		{around(p.of.InputLen-p.of.special(), p.of.Ratio.Input), p.of.Num},
		{around(p.of.OutputLen, p.of.Ratio.Output), p.of.Num},
		{ids, p.of.Num},
	} {
		for range column.n {
			rng.Intn(int64(column.high-column.low) + 1)
		}
	}
	return rng
}

// pythonFloat writes f as Python does, for ordinary sizes.
func pythonFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// A RangeRatio says by how much lengths vary: a length n is drawn from ⌊n(1−r)⌋ to
// ⌈n(1+r)⌉. Each ratio is at least 0 and below 1; at 0 all lengths are equal.
type RangeRatio struct{ Input, Output float64 }

func (r RangeRatio) check() error {
	for _, v := range []float64{r.Input, r.Output} {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("%v is not at least 0 and below 1", v)
		}
	}
	return nil
}

// A span is a range of lengths or ids, both ends included.
type span struct{ low, high int }

// around is the span of lengths around n.
func around(n int, ratio float64) span {
	return span{int(math.Floor(float64(n) * (1 - ratio))), int(math.Ceil(float64(n) * (1 + ratio)))}
}
