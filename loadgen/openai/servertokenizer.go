package openai

import (
	"context"
	"fmt"
	"sync"
)

// A ServerTokenizer is a tokenizer.Tokenizer that asks a server, with at most as
// many calls at once as vLLM's client makes. A Tokenizer has no errors to
// return: after the first failure it answers with nothing, and Err says why.
// Whoever uses it must look at Err before believing what it gave.
type ServerTokenizer struct {
	ctx     context.Context
	server  *Server
	model   string
	vocab   int
	special int
	slots   chan struct{}

	mu  sync.Mutex
	err error
}

// Tokenizer makes a tokenizer of the server's /tokenize and /detokenize for as
// long as ctx lasts. The server does not say how large its vocabulary is: vocab
// is what VocabSize gives.
func (s *Server) Tokenizer(ctx context.Context, model string, vocab int) (*ServerTokenizer, error) {
	t := &ServerTokenizer{ctx: ctx, server: s, model: model, vocab: vocab, slots: make(chan struct{}, 1)}
	ids := t.Encode("a", false)
	t.special = len(t.Encode("a", true)) - len(ids)
	if t.Err() == nil && (len(ids) == 0 || t.Decode(ids) == "") && t.Err() == nil {
		return nil, fmt.Errorf("the server's tokenizer: it has no ids for a text, or no text for ids")
	}
	t.slots = make(chan struct{}, s.together())
	return t, t.Err()
}

// Err is what went wrong first, nil if nothing did.
func (t *ServerTokenizer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Encode asks /tokenize.
func (t *ServerTokenizer) Encode(text string, special bool) []int {
	return answered(t, func() ([]int, error) { return t.server.Tokenize(t.ctx, t.model, text, special) })
}

// Count is the length of what Encode gives.
func (t *ServerTokenizer) Count(text string, special bool) int { return len(t.Encode(text, special)) }

// Decode asks /detokenize.
func (t *ServerTokenizer) Decode(ids []int) string {
	return answered(t, func() (string, error) { return t.server.detokenize(t.ctx, t.model, ids) })
}

// VocabSize is the size that the tokenizer was made with.
func (t *ServerTokenizer) VocabSize() int { return t.vocab }

// SpecialIDs are not told by servers: there are none.
func (t *ServerTokenizer) SpecialIDs() []int { return nil }

// NumSpecial is by how much the server's count of a text grows with special
// tokens.
func (t *ServerTokenizer) NumSpecial() int { return t.special }

// answered makes a call in its turn, unless an earlier one has failed.
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
