package ollama

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

// converted are the messages of a chat as Ollama has them.
func converted(chat []any) ([]any, error) {
	var called calledTools
	all := make([]any, len(chat))
	for i, m := range chat {
		object, ok := m.(pyjson.Object)
		if !ok {
			return nil, fmt.Errorf("message %d is no object", i+1)
		}
		message, err := called.convert(object)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		all[i] = message
	}
	return all, nil
}

// The calledTools are the names of the functions that the last message with calls has called, in its order, and what
// ids the calls have. Not all servers give them ids.
type calledTools struct {
	names    []any
	ids      []string // empty for a call without one
	answered int      // calls that have a result
}

// name is the name of the function whose result has an id; nil if there is none.
func (c *calledTools) name(id string) any {
	next := c.answered
	c.answered++
	if i := slices.Index(c.ids, id); i >= 0 && id != "" {
		return c.names[i]
	}
	if next < len(c.names) && c.ids[next] == "" {
		return c.names[next]
	}
	return nil
}

// convert is a message as Ollama has it. It notes its calls.
func (c *calledTools) convert(given pyjson.Object) (pyjson.Object, error) {
	role, _ := given.Get("role")
	content, _ := given.Get("content")
	text, images, err := split(content)
	if err != nil {
		return nil, err
	}
	message := pyjson.Object{{Key: "role", Value: role}, {Key: "content", Value: text}}
	if images != nil {
		message.Set("images", images)
	}
	if thought, _ := given.Get("reasoning"); thought != nil && thought != "" {
		message.Set("thinking", thought)
	}
	if calls := c.callsIn(given); calls != nil {
		message.Set("tool_calls", calls)
	}
	if role == "tool" {
		id, _ := given.Get("tool_call_id")
		text, _ := id.(string)
		if name := c.name(text); name != nil {
			message.Set("tool_name", name)
		}
	}
	return message, nil
}

// split is a content as a text, whose parts become lines, and its images in base64.
func split(content any) (text string, images []any, err error) {
	parts, isList := content.([]any)
	if !isList {
		text, _ = content.(string)
		return text, nil, nil
	}
	var lines []string
	for _, part := range parts {
		if raw, isRaw := part.(json.RawMessage); isRaw {
			if _, data, ok := request.ImageIn(raw); ok {
				images = append(images, string(data))
				continue
			}
			part, _ = pyjson.Parse(string(raw)) // a part is JSON
		}
		object, _ := part.(pyjson.Object)
		switch kind, _ := object.Get("type"); kind {
		case "text":
			line, _ := object.Get("text")
			said, _ := line.(string)
			lines = append(lines, said)
		case "image_url":
			data, err := dataOf(object)
			if err != nil {
				return "", nil, err
			}
			images = append(images, data)
		default:
			return "", nil, fmt.Errorf("the API of Ollama takes text and images, but no %v", kind)
		}
	}
	return strings.Join(lines, "\n"), images, nil
}

// dataOf is the image of a part, in base64.
func dataOf(part pyjson.Object) (string, error) {
	given, _ := part.Get("image_url")
	if named, ok := given.(pyjson.Object); ok {
		given, _ = named.Get("url")
	}
	url, _ := given.(string)
	_, data, isData := strings.Cut(url, ";base64,")
	if !strings.HasPrefix(url, "data:") || !isData {
		return "", fmt.Errorf("the API of Ollama takes images in the request, and %.80q is elsewhere", url)
	}
	return data, nil
}

// callsIn are the calls of an assistant's message, with their arguments as objects.
func (c *calledTools) callsIn(message pyjson.Object) (calls []any) {
	given, _ := message.Get("tool_calls")
	list, _ := given.([]any)
	if len(list) > 0 {
		*c = calledTools{}
	}
	for _, one := range list {
		object, _ := one.(pyjson.Object)
		id, _ := object.Get("id")
		function, _ := object.Get("function")
		named, _ := function.(pyjson.Object)
		name, _ := named.Get("name")
		arguments, _ := named.Get("arguments")
		text, _ := id.(string)
		c.names, c.ids = append(c.names, name), append(c.ids, text)
		calls = append(calls, pyjson.Object{{Key: "function", Value: pyjson.Object{
			{Key: "name", Value: name}, {Key: "arguments", Value: request.Arguments(arguments)},
		}}})
	}
	return calls
}
