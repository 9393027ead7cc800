package dataset

import (
	"iter"
	"slices"

	"github.com/servebench/servebench/dataset/tokenizer"
)

// A pull is one step of a Source.
type pull struct {
	conversation *Conversation
	err          error
}

func pulls(src Source) iter.Seq[pull] {
	return func(yield func(pull) bool) {
		for c, err := range src {
			if !yield(pull{c, err}) {
				return
			}
		}
	}
}

// Parallel is a Source of the result of work for each item, in the order of the items. It works on
// up to width items at once, ahead of what is pulled, and ends at the first error.
func Parallel[T any](items iter.Seq[T], width int, work func(T) (*Conversation, error)) Source {
	return func(yield func(*Conversation, error) bool) {
		for p := range ordered(items, width, func(item T) pull {
			c, err := work(item)
			return pull{c, err}
		}) {
			if !yield(p.conversation, p.err) || p.err != nil {
				return
			}
		}
	}
}

// Numbered is a Source of n conversations. work makes each of them from its number, on all cores and
// ahead of what is pulled. The Source ends at the first error.
func Numbered(n int, work func(i int) (*Conversation, error)) Source {
	return Parallel(func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}, ahead, work)
}

// TokenIDs sends the prompts of src as token ids, special tokens included,
// instead of as text. It encodes on all cores, ahead of what is pulled, and does not
// change the conversations of src.
func TokenIDs(src Source, t tokenizer.Tokenizer) Source {
	return Parallel(pulls(src), ahead, func(p pull) (*Conversation, error) {
		if p.err != nil {
			return nil, p.err
		}
		c := *p.conversation
		c.Turns = slices.Clone(c.Turns)
		for i := range c.Turns {
			turn := &c.Turns[i]
			turn.TokenIDs = t.Encode(turn.Prompt, true)
			turn.PromptLen = len(turn.TokenIDs)
		}
		return &c, nil
	})
}

// First is the first n conversations of src.
func First(src Source, n int) Source {
	return func(yield func(*Conversation, error) bool) {
		left := n
		for c, err := range src {
			if left--; !yield(c, err) || left <= 0 {
				return
			}
		}
	}
}

// A Shard is the part of a workload that one of Of load generators sends: every
// Ofth conversation, from number Index on. Together the shards send each
// conversation once. The zero value is the whole.
type Shard struct{ Index, Of int }

// Several reports whether there are other shards.
func (s Shard) Several() bool { return s.Of > 1 }

// Has reports whether the shard sends the conversation of that number, from 0.
func (s Shard) Has(number int) bool { return !s.Several() || number%s.Of == s.Index }

// Share is how many of n things, such as conversations or slots, the shard has. The
// shares of all shards add up to n.
func (s Shard) Share(n int) int {
	if !s.Several() {
		return n
	}
	share := n / s.Of
	if s.Index < n%s.Of {
		share++
	}
	return share
}
