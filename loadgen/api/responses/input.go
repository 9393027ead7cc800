package responses

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Form is how the API has a body: as vLLM's client sends it since 0.31.0.
var Form = &request.Form{Request: body}

func body(b *request.Body, turn *dataset.Turn) (pyjson.Object, error) {
	if turn.TokenIDs != nil {
		return nil, errors.New("a responses endpoint takes no token ids")
	}
	input, err := inputOf(turn)
	if err != nil {
		return nil, err
	}
	return pyjson.Object{
		{Key: "model", Value: b.Model},
		{Key: "input", Value: input},
		{Key: "max_output_tokens", Value: turn.OutputLen},
		{Key: "stream", Value: true},
		{Key: "store", Value: b.Store},
	}, nil
}

// inputOf is the prompt of turn. Content parts go as they are, under the names that chats have for them:
// so does vLLM's client.
func inputOf(turn *dataset.Turn) (any, error) {
	switch {
	case turn.Messages != nil:
		messages, err := request.MessagesOf(turn)
		if err != nil {
			return nil, err
		}
		return items(messages)
	case turn.Payload != nil && turn.Payload.Batch != nil:
		return nil, errors.New("a responses endpoint takes one prompt in a request")
	}
	return request.PromptOf(turn)
}

// After makes the body that sends only what turn adds to the answer before it, to a server that
// has kept that answer. answer is an Answer of package exchange.
func After(b *request.Body, turn *dataset.Turn, answer json.RawMessage) ([]byte, error) {
	var before struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &before); err != nil || before.ID == "" {
		return nil, errors.New("the server gave the answer before it no id to go on from")
	}
	object, err := body(b, turn)
	if err != nil {
		return nil, err
	}
	object.Set("previous_response_id", before.ID)
	return b.Complete(object, turn)
}

// items are the messages of a chat as the Responses API takes them: calls of tools and their results
// are items like messages, and parts of a text have other names.
func items(messages any) ([]any, error) {
	list, ok := messages.([]any)
	if !ok {
		return nil, errors.New("the messages are no list")
	}
	var all []any
	for i, message := range list {
		object, ok := message.(pyjson.Object)
		if !ok {
			return nil, fmt.Errorf("message %d is no object", i+1)
		}
		role, _ := object.Get("role")
		content, _ := object.Get("content")
		if role == "tool" {
			id, _ := object.Get("tool_call_id")
			all = append(all, pyjson.Object{{Key: "type", Value: "function_call_output"}, {Key: "call_id", Value: id},
				{Key: "output", Value: content}})
			continue
		}
		calls := callsIn(object)
		if content != nil && (content != "" || calls == nil) {
			all = append(all, pyjson.Object{{Key: "role", Value: role}, {Key: "content", Value: renamed(content, role)}})
		}
		all = append(all, calls...)
	}
	return all, nil
}

// callsIn are the calls of an assistant's message as items.
func callsIn(message pyjson.Object) (all []any) {
	calls, _ := message.Get("tool_calls")
	list, _ := calls.([]any)
	for _, call := range list {
		object, _ := call.(pyjson.Object)
		id, _ := object.Get("id")
		function, _ := object.Get("function")
		called, _ := function.(pyjson.Object)
		name, _ := called.Get("name")
		arguments, _ := called.Get("arguments")
		all = append(all, pyjson.Object{{Key: "type", Value: "function_call"}, {Key: "call_id", Value: id},
			{Key: "name", Value: name}, {Key: "arguments", Value: arguments}})
	}
	return all
}

// renamed is a content with its parts under the names of the Responses API.
func renamed(content, role any) any {
	parts, ok := content.([]any)
	if !ok {
		return content
	}
	text := "input_text"
	if role == "assistant" {
		text = "output_text"
	}
	all := make([]any, len(parts))
	for i, part := range parts {
		all[i] = part
		object, _ := part.(pyjson.Object)
		switch kind, _ := object.Get("type"); kind {
		case "text":
			said, _ := object.Get("text")
			all[i] = pyjson.Object{{Key: "type", Value: text}, {Key: "text", Value: said}}
		case "image_url":
			image, _ := object.Get("image_url")
			if named, ok := image.(pyjson.Object); ok {
				image, _ = named.Get("url")
			}
			all[i] = pyjson.Object{{Key: "type", Value: "input_image"}, {Key: "image_url", Value: image}}
		}
	}
	return all
}
