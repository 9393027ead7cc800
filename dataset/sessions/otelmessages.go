package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset/otlp"
)

// An otelPart is a part of a message in the GenAI conventions.
type otelPart struct {
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Response  json.RawMessage `json:"response"`
	Result    json.RawMessage `json:"result"` // older than response
}

// An otelMessage is a message as an endpoint of chats takes it.
type otelMessage struct {
	message
	Calls   []otelCall `json:"tool_calls,omitempty"`
	Answers string     `json:"tool_call_id,omitempty"`
}

// An otelCall is a call of a tool.
type otelCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// otelTexts are the texts of a request. odd says that some parts were neither texts nor tools.
type otelTexts struct {
	sent   []otelMessage
	answer *otelMessage
	odd    bool
	unsaid bool // the answer cannot be read
}

var errNoMessages = errors.New("not a list of messages with parts")

// textsOf are the texts of a span. Without messages to send it has none.
func textsOf(s *otlp.Span) (t otelTexts, err error) {
	read := func(name string, into any) bool {
		value := s.Content(name)
		if value == nil || err != nil {
			return false
		}
		err = json.Unmarshal(value.JSON(), into)
		return err == nil
	}
	type wire struct {
		Role  string
		Parts []otelPart
	}
	var system []otelPart
	var input, output []wire
	if read("gen_ai.system_instructions", &system) && len(system) > 0 {
		input = []wire{{"system", system}}
	}
	var said []wire
	if !read("gen_ai.input.messages", &said) || len(said) == 0 {
		return otelTexts{}, err
	}
	for _, m := range append(input, said...) {
		if m.Role == "" || len(m.Parts) == 0 {
			return otelTexts{}, errNoMessages
		}
		t.sent = append(t.sent, t.messages(m.Role, m.Parts)...)
	}
	if value := s.Content("gen_ai.output.messages"); value != nil && json.Unmarshal(value.JSON(), &output) != nil {
		output, t.unsaid = nil, true
	}
	if len(output) > 0 {
		if list := t.messages("assistant", output[0].Parts); len(list) > 0 {
			t.answer = &list[0]
		}
	}
	if !slices.ContainsFunc(t.sent, func(m otelMessage) bool { return m.Content != "" }) {
		return otelTexts{}, errNoMessages
	}
	return t, err
}

// messages are the messages that a message of parts becomes: the results of tools, and what else it has.
// Reasoning is left out, since chat templates drop it.
func (t *otelTexts) messages(role string, parts []otelPart) (list []otelMessage) {
	var texts []string
	own := otelMessage{message: message{Role: role}}
	for _, p := range parts {
		switch p.Type {
		case "text":
			texts = append(texts, loose(p.Content))
		case "tool_call":
			call := otelCall{ID: p.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = p.Name, loose(p.Arguments)
			own.Calls = append(own.Calls, call)
		case "tool_call_response":
			result := p.Response
			if result == nil {
				result = p.Result
			}
			list = append(list, otelMessage{message: message{"tool", loose(result)}, Answers: p.ID})
		case "reasoning":
		default:
			t.odd = true
		}
	}
	if own.Content = strings.Join(texts, "\n"); texts != nil || own.Calls != nil {
		list = append(list, own)
	}
	return list
}

// loose is a text, or another value as JSON.
func loose(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // it has been read before
	return compact.String()
}
