package dataset

import (
	"iter"
	"slices"

	"github.com/servebench/servebench/dataset/tokenizer"
)

// TokenIDs sends the prompts of src as token ids, special tokens included,
// instead of as text. It encodes on all cores, ahead of what is pulled, and leaves
// the conversations of src as they are.
func TokenIDs(src Source, t tokenizer.Tokenizer) Source {
	return func(yield func(*Conversation, error) bool) {
		for p := range ordered(pulls(src), func(p pull) pull {
			if p.err == nil {
				p.conversation = encoded(p.conversation, t)
			}
			return p
		}) {
			if !yield(p.conversation, p.err) || p.err != nil {
				return
			}
		}
	}
}

// A pull is what a Source yields at once.
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

// encoded is a copy of c with token ids.
func encoded(c *Conversation, t tokenizer.Tokenizer) *Conversation {
	copied := *c
	copied.Turns = slices.Clone(c.Turns)
	for i := range copied.Turns {
		turn := &copied.Turns[i]
		turn.TokenIDs = t.Encode(turn.Prompt, true)
		turn.PromptLen = len(turn.TokenIDs)
	}
	return &copied
}
