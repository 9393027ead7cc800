package openai

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A Body makes the bodies of requests byte for byte as vLLM's client does: with
// its keys in its order, in the spelling of Python's json.dumps. UsageAlways,
// PlainText and Drop are our extensions.
type Body struct {
	Model       string // as the API names it
	Chat        bool   // use chat completions instead of completions
	Responses   bool   // use the Responses API instead; Store then has the server keep its answers
	Store       bool
	IgnoreEOS   bool
	Logprobs    *int // for completions; nil is sent as null
	UsageAlways bool // ask for token counts in every chunk
	// PlainText makes the content of a chat's messages a string instead of a list of parts, which
	// works for text only.
	PlainText bool

	Extra pyjson.Object // replaces everything else; a key that exists already keeps its place
	Drop  []string      // names of members to leave out, wherever they come from
}

// Encode makes the body that sends turn.
func (b *Body) Encode(turn *dataset.Turn) ([]byte, error) {
	base := b.completion
	switch {
	case b.Responses:
		base = b.response
	case b.Chat:
		base = b.chat
	}
	object, err := base(turn)
	if err != nil {
		return nil, err
	}
	return b.complete(object, turn), nil
}

// complete is the text of a body that lacks only what the APIs have in common.
func (b *Body) complete(object pyjson.Object, turn *dataset.Turn) []byte {
	size := 1024 + len(turn.Prompt) + 8*len(turn.TokenIDs) + len(turn.Messages)
	return pyjson.Append(make([]byte, 0, size), b.Members(object, turn))
}

// Members are the members of a body that lacks only what the APIs have in common.
func (b *Body) Members(object pyjson.Object, turn *dataset.Turn) pyjson.Object {
	if turn.OutputLen == 0 { // the server decides
		object = slices.DeleteFunc(object, func(m pyjson.Member) bool { return slices.Contains(bounds, m.Key) })
	}
	if b.IgnoreEOS {
		object = append(object, pyjson.Member{Key: "ignore_eos", Value: true})
	}
	return slices.DeleteFunc(object.Merge(b.Extra), func(m pyjson.Member) bool { return slices.Contains(b.Drop, m.Key) })
}

// streamed asks for a stream that ends with the token counts.
func (b *Body) streamed(object pyjson.Object) pyjson.Object {
	usage := pyjson.Object{{Key: "include_usage", Value: true}}
	if b.UsageAlways {
		usage = append(usage, pyjson.Member{Key: "continuous_usage_stats", Value: true})
	}
	return append(object, pyjson.Member{Key: "stream", Value: true}, pyjson.Member{Key: "stream_options", Value: usage})
}

// bounds are the members of bodies that bound the length of an answer.
var bounds = []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}

func (b *Body) completion(turn *dataset.Turn) (pyjson.Object, error) {
	if turn.Messages != nil {
		return nil, errors.New("a completions endpoint takes no messages: use --backend openai-chat --endpoint /v1/chat/completions")
	}
	var prompt any = turn.Prompt
	if turn.TokenIDs != nil {
		prompt = turn.TokenIDs
	}
	var logprobs any
	if b.Logprobs != nil {
		logprobs = *b.Logprobs
	}
	return b.streamed(pyjson.Object{
		{Key: "model", Value: b.Model},
		{Key: "prompt", Value: prompt},
		{Key: "repetition_penalty", Value: 1.0},
		{Key: "max_tokens", Value: turn.OutputLen},
		{Key: "logprobs", Value: logprobs},
	}), nil
}

func (b *Body) chat(turn *dataset.Turn) (pyjson.Object, error) {
	messages, err := chatMessages(turn)
	if err == nil && b.PlainText {
		err = inPlainText(messages)
	}
	return b.streamed(pyjson.Object{
		{Key: "model", Value: b.Model},
		{Key: "messages", Value: messages},
		{Key: "max_completion_tokens", Value: turn.OutputLen},
	}), err
}

func chatMessages(turn *dataset.Turn) (any, error) {
	switch {
	case turn.Messages != nil:
		messages, err := pyjson.Parse(string(turn.Messages))
		if err != nil {
			return nil, fmt.Errorf("reading messages: %w", err)
		}
		return messages, nil
	case turn.TokenIDs != nil:
		return nil, errors.New("a chat endpoint takes no token ids")
	}
	content := []any{pyjson.Object{{Key: "type", Value: "text"}, {Key: "text", Value: turn.Prompt}}}
	return []any{pyjson.Object{{Key: "role", Value: "user"}, {Key: "content", Value: content}}}, nil
}

// inPlainText turns each content of messages into a string, in place. Several text parts become
// lines, as vLLM does for a model that accepts text only.
func inPlainText(messages any) error {
	list, _ := messages.([]any)
	for i, message := range list {
		object, _ := message.(pyjson.Object)
		content, _ := object.Get("content")
		parts, ok := content.([]any)
		if !ok {
			continue
		}
		text, err := joinedText(parts)
		if err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
		object.With("content", text)
	}
	return nil
}

func joinedText(parts []any) (string, error) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		object, _ := part.(pyjson.Object)
		kind, _ := object.Get("type")
		text, _ := object.Get("text")
		said, ok := text.(string)
		if !ok || kind != "text" {
			return "", fmt.Errorf("its content has a part of type %v, and a string holds only text", kind)
		}
		texts[i] = said
	}
	return strings.Join(texts, "\n"), nil
}
