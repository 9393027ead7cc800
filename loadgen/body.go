package loadgen

import (
	"errors"
	"fmt"

	"github.com/servebench/servebench/dataset"
)

// A Body makes the bodies of requests byte for byte as vLLM's client does: with
// its keys in its order, in the spelling of Python's json.dumps.
type Body struct {
	Model     string // as the API names it
	Chat      bool   // for chat completions, else completions
	IgnoreEOS bool
	Logprobs  *int   // for completions; nil is sent as null
	Extra     Object // set over everything else; a key that is there already keeps its place
}

// Encode makes the body that sends turn.
func (b *Body) Encode(turn *dataset.Turn) ([]byte, error) {
	base := b.completion
	if b.Chat {
		base = b.chat
	}
	object, err := base(turn)
	if err != nil {
		return nil, err
	}
	object = append(object,
		Member{"stream", true},
		Member{"stream_options", Object{{"include_usage", true}}})
	if b.IgnoreEOS {
		object = append(object, Member{"ignore_eos", true})
	}
	size := 1024 + len(turn.Prompt) + 8*len(turn.TokenIDs) + len(turn.Messages)
	return AppendJSON(make([]byte, 0, size), object.Merge(b.Extra)), nil
}

func (b *Body) completion(turn *dataset.Turn) (Object, error) {
	if turn.Messages != nil {
		return nil, errors.New("a completions endpoint takes no messages")
	}
	var prompt any = turn.Prompt
	if turn.TokenIDs != nil {
		prompt = turn.TokenIDs
	}
	var logprobs any
	if b.Logprobs != nil {
		logprobs = *b.Logprobs
	}
	return Object{
		{"model", b.Model},
		{"prompt", prompt},
		{"repetition_penalty", 1.0},
		{"max_tokens", turn.OutputLen},
		{"logprobs", logprobs},
	}, nil
}

func (b *Body) chat(turn *dataset.Turn) (Object, error) {
	messages, err := chatMessages(turn)
	return Object{
		{"model", b.Model},
		{"messages", messages},
		{"max_completion_tokens", turn.OutputLen},
	}, err
}

func chatMessages(turn *dataset.Turn) (any, error) {
	switch {
	case turn.Messages != nil:
		messages, err := ParseJSON(string(turn.Messages))
		if err != nil {
			return nil, fmt.Errorf("reading messages: %w", err)
		}
		return messages, nil
	case turn.TokenIDs != nil:
		return nil, errors.New("a chat endpoint takes no token ids")
	}
	content := []any{Object{{"type", "text"}, {"text", turn.Prompt}}}
	return []any{Object{{"role", "user"}, {"content", content}}}, nil
}
