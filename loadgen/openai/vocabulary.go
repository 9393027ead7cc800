package openai

import (
	"cmp"
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

const (
	alignTogether = 64 // calls in flight while prompts are aligned, as in vLLM's client
	fewTogether   = 4  // calls in flight to a server that gives each connection a thread
)

// Tokenize returns the model's ids for prompt from POST /tokenize, with or without special tokens.
// It asks as vLLM expects. If that returns no id for a text, it asks as llama.cpp expects, which
// calls the prompt content.
func (s *Server) Tokenize(ctx context.Context, model, prompt string, special bool) ([]int, error) {
	content := func() ([]int, error) {
		return s.tokenize(ctx, pyjson.Object{{Key: "model", Value: model}, {Key: "content", Value: prompt},
			{Key: "add_special", Value: special}})
	}
	if s.wantsContent.Load() {
		return content()
	}
	ids, err := s.tokenize(ctx, pyjson.Object{{Key: "model", Value: model}, {Key: "prompt", Value: prompt},
		{Key: "add_special_tokens", Value: special}})
	if err != nil || len(ids) > 0 || prompt == "" {
		return ids, err
	}
	if named, err := content(); err == nil && len(named) > 0 {
		s.wantsContent.Store(true)
		return named, nil
	}
	return ids, nil
}

// together is how many calls may be in flight at once. llama.cpp's server has four threads more
// than slots, and a call over a fifth connection would wait until another one has been idle for
// five seconds.
func (s *Server) together() int {
	if s.wantsContent.Load() {
		return fewTogether
	}
	return alignTogether
}

func (s *Server) tokenize(ctx context.Context, body pyjson.Object) ([]int, error) {
	var reply struct {
		Tokens *[]int `json:"tokens"`
	}
	if err := s.call(ctx, "/tokenize", body, &reply); err != nil {
		return nil, err
	}
	if reply.Tokens == nil {
		return nil, s.lacks("/tokenize", "tokens")
	}
	return *reply.Tokens, nil
}

// detokenize returns the text of ids, from POST /detokenize: the prompt of vLLM's reply, or the
// content of llama.cpp's.
func (s *Server) detokenize(ctx context.Context, model string, ids []int) (string, error) {
	var reply struct {
		Prompt  *string `json:"prompt"`
		Content *string `json:"content"`
	}
	err := s.call(ctx, "/detokenize", pyjson.Object{{Key: "model", Value: model}, {Key: "tokens", Value: ids}}, &reply)
	if err != nil {
		return "", err
	}
	text := cmp.Or(reply.Prompt, reply.Content)
	if text == nil {
		return "", s.lacks("/detokenize", "prompt")
	}
	return *text, nil
}

// probe is a text that shows what the server adds around a text.
const probe = "a"

// affixes are what a server adds around a text when it makes ids of it, and does not take away when
// it makes the ids a text again: llama.cpp puts a space before each text for SentencePiece's models.
type affixes struct{ before, after string }

// affixesOf is what surrounds the probe in the text of its ids. It is empty if that has no probe.
func affixesOf(text string) affixes {
	before, after, found := strings.Cut(text, probe)
	if !found {
		return affixes{}
	}
	return affixes{before, after}
}

// cut is text without the affixes that it has.
func (a affixes) cut(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(text, a.before), a.after)
}

// affixes asks what the server adds around a text. It is empty if the server speaks as vLLM does, whose
// client keeps every text as it is.
func (s *Server) affixes(ctx context.Context, model string) (affixes, error) {
	if !s.wantsContent.Load() {
		return affixes{}, nil
	}
	ids, err := s.Tokenize(ctx, model, probe, false)
	if err != nil {
		return affixes{}, err
	}
	text, err := s.detokenize(ctx, model, ids)
	return affixesOf(text), err
}

// Align cuts each turn's Prompt to PromptLen tokens by the server's count, if it is longer. vLLM's
// client does so if the server's tokenizer is not its own. After an error, some turns may be
// aligned already.
func (s *Server) Align(ctx context.Context, model string, turns []*dataset.Turn) error {
	around, err := s.affixes(ctx, model)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.together())
	for _, turn := range turns {
		group.Go(func() error {
			ids, err := s.Tokenize(ctx, model, turn.Prompt, false)
			if err != nil || len(ids) <= turn.PromptLen {
				return err
			}
			text, err := s.detokenize(ctx, model, ids[:turn.PromptLen])
			if err == nil {
				turn.Prompt = around.cut(text)
			}
			return err
		})
	}
	return group.Wait()
}
