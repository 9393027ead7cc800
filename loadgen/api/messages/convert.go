package messages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A prompt is what a request asks.
type prompt struct {
	system   any // a text or a list of blocks; nil for none
	messages []any
}

// converted are the messages of a chat as this API has them. The system's messages at the start become
// the system's text. A later one becomes the user's, since its place matters more than its role.
// Results of tools that follow each other become one message, as the API demands.
func converted(chat []any) (*prompt, error) {
	var p prompt
	var results *[]any // of the last message, if it has results alone
	for i, m := range chat {
		object, ok := m.(pyjson.Object)
		if !ok {
			return nil, fmt.Errorf("message %d is no object", i+1)
		}
		role, _ := object.Get("role")
		given, _ := object.Get("content")
		content, err := blocks(given)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		system := role == "system" || role == "developer"
		switch {
		case system && len(p.messages) == 0:
			p.system = joined(p.system, content)
			continue
		case system:
			role = "user"
		case role == "assistant":
			content = answer(object, content)
		case role == "tool":
			id, _ := object.Get("tool_call_id")
			result := pyjson.Object{{Key: "type", Value: "tool_result"}, {Key: "tool_use_id", Value: id},
				{Key: "content", Value: content}}
			if results != nil {
				*results = append(*results, result)
				p.messages[len(p.messages)-1] = message("user", *results)
				continue
			}
			results = &[]any{result}
			p.messages = append(p.messages, message("user", *results))
			continue
		}
		results = nil
		p.messages = append(p.messages, message(role, content))
	}
	return &p, nil
}

// joined is the system's text with more of it.
func joined(system, more any) any {
	if system == nil {
		return more
	}
	return append(asBlocks(system), asBlocks(more)...)
}

// asBlocks is a content as a list of blocks.
func asBlocks(content any) []any {
	switch content := content.(type) {
	case []any:
		return content
	case string:
		if content != "" {
			return []any{textBlock(content)}
		}
	}
	return nil
}

// answer is the content of an assistant's message, with its reasoning and its calls of tools as blocks.
func answer(message pyjson.Object, content any) any {
	var thought []any
	if reasoning, _ := message.Get("reasoning"); reasoning != nil && reasoning != "" {
		thought = []any{pyjson.Object{{Key: "type", Value: "thinking"}, {Key: "thinking", Value: reasoning},
			{Key: "signature", Value: ""}}}
	}
	var calls []any
	given, _ := message.Get("tool_calls")
	list, _ := given.([]any)
	for _, call := range list {
		object, _ := call.(pyjson.Object)
		id, _ := object.Get("id")
		called, _ := object.Get("function")
		function, _ := called.(pyjson.Object)
		name, _ := function.Get("name")
		arguments, _ := function.Get("arguments")
		calls = append(calls, pyjson.Object{{Key: "type", Value: "tool_use"}, {Key: "id", Value: id},
			{Key: "name", Value: name}, {Key: "input", Value: request.Arguments(arguments)}})
	}
	if thought == nil && calls == nil {
		return content
	}
	return append(append(thought, asBlocks(content)...), calls...)
}

// blocks is the content of a chat's message as this API has it: images have another form, and what has
// none is an error. Other parts stay as they are.
func blocks(content any) (any, error) {
	parts, ok := content.([]any)
	if !ok {
		return content, nil
	}
	all := make([]any, len(parts))
	for i, part := range parts {
		if raw, ok := part.(json.RawMessage); ok {
			if all[i] = rawImage(raw); all[i] != nil {
				continue
			}
			part, _ = pyjson.Parse(string(raw)) // a part is JSON
		}
		object, _ := part.(pyjson.Object)
		switch kind, _ := object.Get("type"); kind {
		case "image_url":
			given, _ := object.Get("image_url")
			if named, ok := given.(pyjson.Object); ok {
				given, _ = named.Get("url")
			}
			url, _ := given.(string)
			all[i] = pyjson.Object{{Key: "type", Value: "image"}, {Key: "source", Value: source(url)}}
		case "input_audio", "audio_url", "video_url":
			return nil, fmt.Errorf("the Messages API takes text and images, but no %s", kind)
		default:
			all[i] = part
		}
	}
	return all, nil
}

// rawImage is a part with an image in the request as a block, without parsing its data. It is nil for any
// other part.
func rawImage(part json.RawMessage) any {
	kind, data, ok := request.ImageIn(part)
	if !ok {
		return nil
	}
	return json.RawMessage(slices.Concat([]byte(`{"type": "image", "source": {"type": "base64", "media_type": "`), kind,
		[]byte(`", "data": "`), data, []byte(`"}}`)))
}

// source is where an image is: in the request, if its URL is a data URL.
func source(url string) pyjson.Object {
	head, data, isData := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !strings.HasPrefix(url, "data:") || !isData {
		return pyjson.Object{{Key: "type", Value: "url"}, {Key: "url", Value: url}}
	}
	return pyjson.Object{{Key: "type", Value: "base64"}, {Key: "media_type", Value: head}, {Key: "data", Value: data}}
}

// renamed are the members of a body, where members of a chat get the form of this API: tools, their
// choice, and where an answer stops. Members that have this form stay as they are.
func renamed(body pyjson.Object) pyjson.Object {
	if given, _ := body.Get("tools"); given != nil {
		list, _ := given.([]any)
		tools := make([]any, len(list))
		for i, t := range list {
			tools[i] = tool(t)
		}
		body = body.With("tools", tools)
	}
	if given, _ := body.Get("tool_choice"); given != nil {
		body = body.With("tool_choice", choice(given))
	}
	stop, there := body.Get("stop")
	if !there {
		return body
	}
	if text, ok := stop.(string); ok {
		stop = []any{text}
	}
	var all pyjson.Object
	for _, m := range body {
		if m.Key == "stop" {
			m = pyjson.Member{Key: "stop_sequences", Value: stop}
		}
		all.Set(m.Key, m.Value)
	}
	return all
}

// tool is a tool of a chat as this API has it.
func tool(given any) any {
	object, _ := given.(pyjson.Object)
	described, _ := object.Get("function")
	function, ok := described.(pyjson.Object)
	if !ok {
		return given
	}
	name, _ := function.Get("name")
	made := pyjson.Object{{Key: "name", Value: name}}
	if text, there := function.Get("description"); there {
		made.Set("description", text)
	}
	schema, there := function.Get("parameters")
	if !there {
		schema = pyjson.Object{{Key: "type", Value: "object"}}
	}
	return made.With("input_schema", schema)
}

// choice is a chat's choice of a tool as this API has it.
func choice(given any) any {
	kinds := map[string]string{"auto": "auto", "none": "none", "required": "any"}
	switch given := given.(type) {
	case string:
		if kind, known := kinds[given]; known {
			return pyjson.Object{{Key: "type", Value: kind}}
		}
	case pyjson.Object:
		named, _ := given.Get("function")
		if function, ok := named.(pyjson.Object); ok {
			name, _ := function.Get("name")
			return pyjson.Object{{Key: "type", Value: "tool"}, {Key: "name", Value: name}}
		}
	}
	return given
}

func message(role, content any) pyjson.Object {
	return pyjson.Object{{Key: "role", Value: role}, {Key: "content", Value: content}}
}

func textBlock(text any) pyjson.Object {
	return pyjson.Object{{Key: "type", Value: "text"}, {Key: "text", Value: text}}
}
