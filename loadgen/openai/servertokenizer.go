package openai

import (
	"context"
	"fmt"
	"sync"
)

// A ServerTokenizer is a tokenizer.Tokenizer that asks a server, with at most as many calls at once
// as vLLM's client makes. The methods of a Tokenizer return no errors: after the first failure they
// return nothing, and Err says why. Check Err before you trust any result.
type ServerTokenizer struct {
	ctx     context.Context
	asked   vocabulary
	vocab   int
	special int
	around  affixes
	slots   chan struct{}

	mu  sync.Mutex
	err error
}

// Tokenizer returns a tokenizer that uses the server's /tokenize and /detokenize until ctx ends.
// The server does not report the size of its vocabulary: VocabSize returns vocab.
func (s *Server) Tokenizer(ctx context.Context, model string, vocab int) (*ServerTokenizer, error) {
	t := &ServerTokenizer{ctx: ctx, asked: vocabulary{s, model}, vocab: vocab, slots: make(chan struct{}, 1)}
	ids := t.Encode(probe, false)
	t.special = len(t.Encode(probe, true)) - len(ids)
	if t.Err() == nil {
		text := t.Decode(ids)
		if t.Err() == nil && (len(ids) == 0 || text == "") {
			return nil, fmt.Errorf("the server's tokenizer: it has no ids for a text, or no text for ids")
		}
		t.around = affixesOf(text)
	}
	t.slots = make(chan struct{}, t.asked.together())
	return t, t.Err()
}

// Err is the first error, or nil.
func (t *ServerTokenizer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Encode asks /tokenize.
func (t *ServerTokenizer) Encode(text string, special bool) []int {
	return answered(t, func() ([]int, error) { return t.asked.ids(t.ctx, text, special) })
}

// Count is the number of ids that Encode returns.
func (t *ServerTokenizer) Count(text string, special bool) int { return len(t.Encode(text, special)) }

// Decode asks /detokenize. It leaves out what the server adds around a text when it encodes one:
// otherwise each text of ids would have more tokens than ids.
func (t *ServerTokenizer) Decode(ids []int) string {
	return answered(t, func() (string, error) {
		text, err := t.asked.text(t.ctx, ids)
		return t.around.cut(text), err
	})
}

// VocabSize is the size given to Tokenizer.
func (t *ServerTokenizer) VocabSize() int { return t.vocab }

// SpecialIDs is empty, since servers do not report them.
func (t *ServerTokenizer) SpecialIDs() []int { return nil }

// NumSpecial is how many tokens the server adds to a text with special tokens.
func (t *ServerTokenizer) NumSpecial() int { return t.special }

// answered makes a call when its turn comes, unless an earlier call has failed.
func answered[T any](t *ServerTokenizer, call func() (T, error)) (answer T) {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	if t.Err() != nil {
		return answer
	}
	answer, err := call()
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.err == nil {
			t.err = fmt.Errorf("the server's tokenizer: %w", err)
		}
	}
	return answer
}
