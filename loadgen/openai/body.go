package openai

import (
	"encoding/json"
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

	// Extra replaces everything else, and the Members of a turn's Payload replace Extra. A key that
	// exists already keeps its place.
	Extra pyjson.Object
	Drop  []string // names of members to leave out, wherever they come from
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
	return b.Complete(object, turn)
}

// Complete is the text of a body that lacks only what the APIs have in common.
func (b *Body) Complete(object pyjson.Object, turn *dataset.Turn) ([]byte, error) {
	object, err := b.Members(object, turn)
	if err != nil {
		return nil, err
	}
	return pyjson.Append(make([]byte, 0, 1024+sizeOf(turn)), object), nil
}

// Members are the members of a body that lacks only what the APIs have in common.
func (b *Body) Members(object pyjson.Object, turn *dataset.Turn) (pyjson.Object, error) {
	members, err := overrides(turn.Payload)
	if err != nil {
		return nil, err
	}
	if turn.OutputLen == 0 { // the server decides
		object = slices.DeleteFunc(object, func(m pyjson.Member) bool { return slices.Contains(bounds, m.Key) })
	}
	if b.IgnoreEOS {
		object = append(object, pyjson.Member{Key: "ignore_eos", Value: true})
	}
	object = object.Merge(b.Extra).Merge(members)
	return slices.DeleteFunc(object, func(m pyjson.Member) bool { return slices.Contains(b.Drop, m.Key) }), nil
}

// Streams reports whether the answers will be streams. Extra and Drop decide.
func (b *Body) Streams() bool {
	stream, set := b.Extra.Get("stream")
	return !slices.Contains(b.Drop, "stream") && (!set || stream == true)
}

// streamed asks for a stream that ends with the token counts. Servers refuse the options of a stream
// without a stream.
func (b *Body) streamed(object pyjson.Object) pyjson.Object {
	if !b.Streams() {
		return append(object, pyjson.Member{Key: "stream", Value: false})
	}
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
		return nil, errors.New("a completions endpoint takes no messages: use --backend openai-chat --endpoint " +
			"/v1/chat/completions")
	}
	prompt, err := promptOf(turn)
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
	}), err
}

func (b *Body) chat(turn *dataset.Turn) (pyjson.Object, error) {
	messages, err := b.Messages(turn)
	return b.streamed(pyjson.Object{
		{Key: "model", Value: b.Model},
		{Key: "messages", Value: messages},
		{Key: "max_completion_tokens", Value: turn.OutputLen},
	}), err
}

// Messages are the messages that send turn to a chat endpoint, as a value for package pyjson.
func (b *Body) Messages(turn *dataset.Turn) (any, error) {
	messages, err := chatMessages(turn)
	if err == nil && b.PlainText {
		err = inPlainText(messages)
	}
	return messages, err
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
	case turn.Payload != nil && turn.Payload.Batch != nil:
		return nil, errors.New("a chat endpoint takes one prompt in a request")
	}
	parts, err := contentOf(turn)
	return []any{pyjson.Object{{Key: "role", Value: "user"}, {Key: "content", Value: parts}}}, err
}

// contentOf is the prompt of turn as parts of a message, and then its media.
func contentOf(turn *dataset.Turn) (parts []any, err error) {
	p := turn.Payload
	if p == nil || p.Content == nil {
		parts = []any{pyjson.Object{{Key: "type", Value: "text"}, {Key: "text", Value: turn.Prompt}}}
	} else {
		content, err := pyjson.Parse(string(p.Content))
		if err != nil {
			return nil, fmt.Errorf("reading the parts of a prompt: %w", err)
		}
		list, ok := content.([]any)
		if !ok {
			return nil, fmt.Errorf("the parts of a prompt are no list: %.40s", p.Content)
		}
		parts = list
	}
	if p != nil {
		for i := range p.Media {
			if p.Media[i].Part == nil {
				return nil, fmt.Errorf("a chat endpoint takes no %s as a file", p.Media[i].Kind)
			}
			part, err := spelledOf(p.Media[i].Part)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	}
	return parts, nil
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
		if raw, ok := part.(json.RawMessage); ok {
			part, _ = pyjson.Parse(string(raw)) // no JSON has no type
		}
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
