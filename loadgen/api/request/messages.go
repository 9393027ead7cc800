package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Messages are MessagesOf turn, in PlainText if b says so.
func (b *Body) Messages(turn *dataset.Turn) (any, error) {
	messages, err := MessagesOf(turn)
	if err == nil && b.PlainText {
		err = inPlainText(messages)
	}
	return messages, err
}

// MessagesOf are the messages that send turn, as a value for package pyjson: its own, or one with its prompt.
func MessagesOf(turn *dataset.Turn) (any, error) {
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
	media, err := MediaOf(turn)
	return append(parts, media...), err
}

// MediaOf are the media of turn as parts of a message.
func MediaOf(turn *dataset.Turn) (parts []any, err error) {
	if turn.Payload == nil {
		return nil, nil
	}
	for i := range turn.Payload.Media {
		m := &turn.Payload.Media[i]
		if m.Part == nil {
			return nil, fmt.Errorf("a chat endpoint takes no %s as a file", m.Kind)
		}
		part, err := spelledOf(m.Part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
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

// ImageIn is the image in a part of a message, if it is in the request: its media type, and its bytes in base64.
// It parses nothing, so that it costs little for a large image. It is not ok for any other part.
func ImageIn(part json.RawMessage) (kind, data []byte, ok bool) {
	text, isImage := bytes.CutPrefix(part, []byte(`{"type": "image_url", "image_url": {"url": "data:`))
	kind, text, isData := bytes.Cut(text, []byte(";base64,"))
	data, whole := bytes.CutSuffix(text, []byte(`"}}`))
	if !isImage || !isData || !whole || bytes.ContainsAny(kind, `"\\`) || bytes.ContainsAny(data, `"\`) {
		return nil, nil, false
	}
	return kind, data, true
}

// Arguments are the arguments of a call as an object, where an API has them so. Arguments that are no object, such as
// cut ones, become a member, so that the prompt has their tokens.
func Arguments(arguments any) pyjson.Object {
	text, isText := arguments.(string)
	if isText {
		arguments, _ = pyjson.Parse(text) // nil if it is no JSON
	}
	switch object, ok := arguments.(pyjson.Object); {
	case ok:
		return object
	case text == "":
		return pyjson.Object{}
	}
	return pyjson.Object{{Key: "arguments", Value: text}}
}
