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
	return vocabulary{s, model}.ids(ctx, prompt, special)
}

// A vocabulary is a model's tokens, as its server has them.
type vocabulary struct {
	server *Server
	model  string
}

// ids is what Tokenize returns.
func (v vocabulary) ids(ctx context.Context, prompt string, special bool) ([]int, error) {
	content := func() ([]int, error) {
		return v.tokenize(ctx, pyjson.Object{{Key: "model", Value: v.model}, {Key: "content", Value: prompt},
			{Key: "add_special", Value: special}})
	}
	if v.server.wantsContent.Load() {
		return content()
	}
	ids, err := v.tokenize(ctx, pyjson.Object{{Key: "model", Value: v.model}, {Key: "prompt", Value: prompt},
		{Key: "add_special_tokens", Value: special}})
	if err != nil || len(ids) > 0 || prompt == "" {
		return ids, err
	}
	if named, err := content(); err == nil && len(named) > 0 {
		v.server.wantsContent.Store(true)
		return named, nil
	}
	return ids, nil
}

func (v vocabulary) tokenize(ctx context.Context, body pyjson.Object) ([]int, error) {
	var reply struct {
		Tokens *[]int `json:"tokens"`
	}
	c := v.server.post("/tokenize", body)
	if err := c.decode(ctx, &reply); err != nil {
		return nil, err
	}
	if reply.Tokens == nil {
		return nil, c.lacks("tokens")
	}
	return *reply.Tokens, nil
}

// text returns the text of ids, from POST /detokenize: the prompt of vLLM's reply, or the content of
// llama.cpp's.
func (v vocabulary) text(ctx context.Context, ids []int) (string, error) {
	var reply struct {
		Prompt  *string `json:"prompt"`
		Content *string `json:"content"`
	}
	c := v.server.post("/detokenize", pyjson.Object{{Key: "model", Value: v.model}, {Key: "tokens", Value: ids}})
	if err := c.decode(ctx, &reply); err != nil {
		return "", err
	}
	text := cmp.Or(reply.Prompt, reply.Content)
	if text == nil {
		return "", c.lacks("prompt")
	}
	return *text, nil
}

// together is how many calls may be in flight at once. llama.cpp's server has four threads more
// than slots, and a call over a fifth connection would wait until another one has been idle for
// five seconds.
func (v vocabulary) together() int {
	if v.server.wantsContent.Load() {
		return fewTogether
	}
	return alignTogether
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
func (v vocabulary) affixes(ctx context.Context) (affixes, error) {
	if !v.server.wantsContent.Load() {
		return affixes{}, nil
	}
	ids, err := v.ids(ctx, probe, false)
	if err != nil {
		return affixes{}, err
	}
	text, err := v.text(ctx, ids)
	return affixesOf(text), err
}

// Align cuts each turn's Prompt to PromptLen tokens by the server's count, if it is longer. vLLM's
// client does so if the server's tokenizer is not its own. After an error, some turns may be
// aligned already.
func (s *Server) Align(ctx context.Context, model string, turns []*dataset.Turn) error {
	v := vocabulary{s, model}
	around, err := v.affixes(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(v.together())
	for _, turn := range turns {
		group.Go(func() error {
			ids, err := v.ids(ctx, turn.Prompt, false)
			if err != nil || len(ids) <= turn.PromptLen {
				return err
			}
			text, err := v.text(ctx, ids[:turn.PromptLen])
			if err == nil {
				turn.Prompt = around.cut(text)
			}
			return err
		})
	}
	return group.Wait()
}
