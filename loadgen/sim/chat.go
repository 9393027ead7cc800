package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/servebench/servebench/loadgen/sim/mediatokens"
)

// The marks of the chat template, in the manner of ChatML: a message is a start, its role, its
// text, an end and a line end; after the last message come the start and the role of the answer.
// So the next turn's prompt begins with this prompt and its answer. The marks are outside of every
// vocabulary.
const (
	markStart = -1 - iota
	markEnd   // also the end-of-sequence token of an answer
	markLine
	markTools // the role of the list of tools
	markRole  // of any other role; the marks below it are roles, too
)

// roles are the roles with a mark: markRole - 1 for the first, and so on.
var roles = []string{"system", "developer", "user", "assistant", "tool"}

// chatTemplateTokens is how many tokens the template adds to a chat of one message.
const chatTemplateTokens = 6

func roleMark(role string) int {
	for i, name := range roles {
		if role == name {
			return markRole - 1 - i
		}
	}
	return markRole
}

// A message is one of a chat.
type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// readChat makes the prompt of a chat from its tools and messages, and decides which tool it may
// call.
func (rd *reader) readChat(q *query, b *body) *problem {
	if len(b.Messages) == 0 {
		return badRequest("messages", "`messages` must not be empty")
	}
	add := func(role int, media []int, texts ...string) {
		q.prompt = append(append(q.prompt, markStart, role), media...)
		for _, text := range texts {
			q.prompt = append(q.prompt, rd.cfg.Tokenizer.Encode(text, false)...)
		}
		q.prompt = append(q.prompt, markEnd, markLine)
	}
	tools, p := readTools(q, b)
	if p != nil {
		return p
	}
	if tools != "" {
		add(markTools, nil, tools)
	}
	for _, m := range b.Messages {
		content, media, p := m.text()
		if p != nil {
			return p
		}
		add(roleMark(m.Role), media, append(m.arguments(), content)...)
	}
	q.prompt = append(q.prompt, markStart, roleMark("assistant"))
	return nil
}

// readTools returns the list of tools as text. It sets the tool that an answer may call: the one
// that tool_choice names, or else the first.
func readTools(q *query, b *body) (text string, p *problem) {
	var tools []struct {
		Function struct{ Name string }
	}
	if len(b.Tools) > 0 && json.Unmarshal(b.Tools, &tools) != nil {
		return "", badRequest("tools", "`tools` must be a list of functions")
	}
	var choice struct {
		Function struct{ Name string }
	}
	var word string
	if len(b.ToolChoice) > 0 && json.Unmarshal(b.ToolChoice, &word) != nil &&
		json.Unmarshal(b.ToolChoice, &choice) != nil {
		return "", badRequest("tool_choice", "`tool_choice` must be none, auto, required or a function")
	}
	q.tool = toolName
	if len(tools) > 0 {
		q.tool = cmp.Or(tools[0].Function.Name, toolName)
		var compact bytes.Buffer
		json.Compact(&compact, b.Tools)
		text = compact.String()
	}
	q.tool = cmp.Or(choice.Function.Name, q.tool)
	if word == "none" {
		q.tool = ""
	}
	return text, nil
}

// text is the content of a message: a text, or a list of parts with a line end between texts, and the
// tokens of images, videos and sounds, which the template shows before. A message that calls tools may
// have none.
func (m *message) text() (text string, media []int, p *problem) {
	if len(m.Content) == 0 && len(m.ToolCalls) > 0 || json.Unmarshal(m.Content, &text) == nil {
		return text, nil, nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(m.Content, &parts) != nil {
		return "", nil, badRequest("messages", "`content` must be a text or a list of parts")
	}
	var texts []string
	for _, raw := range parts {
		var part struct{ Type, Text string }
		if json.Unmarshal(raw, &part) != nil {
			return "", nil, badRequest("messages", "`content` must be a text or a list of parts")
		}
		tokens, seen, err := mediatokens.Part(raw)
		switch {
		case err != nil:
			return "", nil, badRequest("messages", "%v", err)
		case seen:
			media = append(media, tokens...)
		case part.Type != "text":
			return "", nil, badRequest("messages", "content of type %q is not simulated", part.Type)
		default:
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n"), media, nil
}

// The simulator's tool calls have their words as the one argument "text".
const (
	callBegins = `{"text":`
	callEnds   = `}`
)

// arguments are what the template shows of a message's tool calls: the words of the simulator's
// calls, and the arguments of any others.
func (m *message) arguments() (all []string) {
	for _, call := range m.ToolCalls {
		text := call.Function.Arguments
		if quoted, ok := strings.CutPrefix(text, callBegins); ok {
			var words string
			if json.Unmarshal([]byte(strings.TrimSuffix(quoted, callEnds)), &words) == nil {
				text = words
			}
		}
		all = append(all, text)
	}
	return all
}
