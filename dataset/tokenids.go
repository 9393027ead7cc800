package dataset

import "github.com/servebench/servebench/dataset/tokenizer"

// TokenIDs sends the prompts of src as token ids, special tokens included,
// instead of as text.
func TokenIDs(src Source, t tokenizer.Tokenizer) Source {
	return func(yield func(*Conversation, error) bool) {
		for c, err := range src {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range c.Turns {
				turn := &c.Turns[i]
				turn.TokenIDs = t.Encode(turn.Prompt, true)
				turn.PromptLen = len(turn.TokenIDs)
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}
