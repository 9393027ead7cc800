// Package jinja renders the chat templates of models, as Hugging Face
// transformers does with apply_chat_template, in pure Go.
//
// A template is a program in Jinja that comes with a model and makes one text of
// the messages of a conversation. This package reads the part of Jinja that such
// templates are written in and gives, byte for byte, the text that Python's jinja2
// gives. What it cannot do exactly it refuses with an error that names the line; it
// never gives another text. Work and memory are bounded, since a template is
// somebody else's program.
package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string // system, user, assistant, …
	Content string
}

// A Template is the chat template of a model, and the special tokens it is given.
// It may be used by several goroutines at once.
type Template struct {
	// Now is the clock that the template may ask for the date; it may be nil, and a
	// template that asks is then refused.
	Now func() time.Time

	tokens   map[string]value
	programs map[string]program // by name; defaultName alone where they have none
}

const (
	defaultName = "default"
	toolsName   = "tool_use" // rendered instead of the default where there are tools
)

// A program is a parsed template, or why it could not be parsed: a template that is
// not used may be one that is not understood.
type program struct {
	body section
	err  error
}

// New takes the template itself and the special tokens, such as "bos_token".
func New(source string, tokens map[string]string) (*Template, error) {
	t := &Template{tokens: make(map[string]value)}
	for name, token := range tokens {
		t.tokens[name] = strings.ToValidUTF8(token, "\ufffd")
	}
	t.parse(map[string]string{defaultName: source})
	if err := t.programs[defaultName].err; err != nil {
		return nil, fmt.Errorf("chat template: %w", err)
	}
	return t, nil
}

func (t *Template) parse(sources map[string]string) {
	t.programs = make(map[string]program)
	for name, source := range sources {
		body, err := parse(source)
		t.programs[name] = program{body, err}
	}
}

// Kwargs are further variables for a template, in the order given. Nil is none.
type Kwargs struct{ vars *dict }

// ParseKwargs reads a JSON object, as --chat-template-kwargs takes it.
func ParseKwargs(text string) (*Kwargs, error) {
	v, err := parseJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading chat template arguments: %w", err)
	}
	vars, ok := v.(*dict)
	if !ok {
		return nil, errors.New("chat template arguments must be a JSON object")
	}
	for _, name := range vars.keys {
		if slices.Contains(reserved, name.(string)) {
			return nil, fmt.Errorf("chat template argument %q cannot be given", name)
		}
	}
	return &Kwargs{vars}, nil
}

// reserved are parameters of transformers' function, so not variables of the template.
var reserved = []string{
	"conversation", "messages", "chat_template", "add_generation_prompt", "continue_final_message", "tokenize",
	"padding", "truncation", "max_length", "return_tensors", "return_dict", "return_assistant_tokens_mask",
	"tokenizer_kwargs", "sanitize_control_tokens", "self",
}

// budget is what one rendering may cost: steps and bytes.
const budget = 1 << 28

// Render gives the text of a conversation, ready for the answer of the assistant.
func (t *Template) Render(messages []Message, kwargs *Kwargs) (string, error) {
	if len(messages) == 0 {
		return "", errors.New("chat template: there are no messages")
	}
	text, err := t.render(messages, kwargs, budget)
	if err != nil {
		return "", fmt.Errorf("chat template: %w", err)
	}
	return text, nil
}

func (t *Template) render(messages []Message, kwargs *Kwargs, budget int) (string, error) {
	chat := make(list, len(messages))
	for i, m := range messages {
		turn := newDict()
		turn.set("role", strings.ToValidUTF8(m.Role, "\ufffd"))
		turn.set("content", strings.ToValidUTF8(m.Content, "\ufffd"))
		chat[i] = turn
	}
	vars := map[string]value{"tools": nil, "documents": nil, "messages": chat, "add_generation_prompt": true}
	maps.Copy(vars, t.tokens)
	if kwargs != nil {
		for i, name := range kwargs.vars.keys {
			vars[name.(string)] = kwargs.vars.values[i]
		}
	}
	body, err := t.chosen(vars["tools"] != nil)
	if err != nil {
		return "", err
	}
	r := &renderer{budget: budget, now: t.Now}
	return r.render(body, vars)
}

// chosen is the program for conversations with tools or without.
func (t *Template) chosen(tools bool) (section, error) {
	chosen, ok := t.programs[toolsName]
	if !tools || !ok {
		chosen, ok = t.programs[defaultName]
	}
	if !ok {
		names := slices.Sorted(maps.Keys(t.programs))
		return section{}, fmt.Errorf("there are several and none is the default: %s", strings.Join(names, ", "))
	}
	return chosen.body, chosen.err
}
