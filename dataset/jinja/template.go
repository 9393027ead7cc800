// Package jinja is a Jinja interpreter for the chat templates of language models: it
// renders them as Hugging Face transformers does with apply_chat_template.
//
// A chat template is a program that comes with a model and makes one text of the
// messages of a conversation. This package runs the part of Jinja that such templates
// use, and its text is the text of Python's jinja2, byte for byte. It refuses what it
// cannot do exactly, with an error that names the line. It limits work and memory,
// because a template is a stranger's program. README.md says what it can do.
package jinja

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/jinja/builtin"
	"github.com/servebench/servebench/dataset/jinja/program"
	"github.com/servebench/servebench/dataset/jinja/python"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string // system, user, assistant, …
	Content string
}

// A Template is the chat template of a model, with the special tokens that it gets.
// It is safe for concurrent use.
type Template struct {
	// Now is the clock for templates that ask for the date. If it is nil, rendering such a template
	// fails. Set it before the first Render.
	Now func() time.Time

	tokens   map[string]python.Value
	variants map[string]variant // by name; only defaultName if they have no names
}

const (
	defaultName = "default"
	toolsName   = "tool_use" // rendered instead of the default if there are tools
)

// A variant is one of the templates of a model, or the error of parsing it, which matters only if the
// variant is used.
type variant struct {
	program *program.Program
	err     error
}

// Parse makes a Template of its source and the special tokens, such as "bos_token".
func Parse(source string, tokens map[string]string) (*Template, error) {
	t := &Template{tokens: make(map[string]python.Value)}
	for name, token := range tokens {
		t.tokens[name] = strings.ToValidUTF8(token, "\ufffd")
	}
	t.parse(map[string]string{defaultName: source})
	if err := t.variants[defaultName].err; err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Template) parse(sources map[string]string) {
	t.variants = make(map[string]variant)
	for name, source := range sources {
		parsed, err := program.Parse(source)
		t.variants[name] = variant{parsed, err}
	}
}

// Kwargs are more variables for a template, such as enable_thinking. Nil means none.
type Kwargs struct{ vars *python.Dict }

// ParseKwargs reads a JSON object. Its members keep their order and their numbers
// the type that Python gives them.
func ParseKwargs(text string) (*Kwargs, error) {
	v, err := python.ParseJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading chat template arguments: %w", err)
	}
	vars, ok := v.(*python.Dict)
	if !ok {
		return nil, errors.New("chat template arguments must be a JSON object")
	}
	for name := range vars.All() {
		if slices.Contains(reserved, name.(string)) {
			return nil, fmt.Errorf("chat template argument %q cannot be given", name)
		}
	}
	return &Kwargs{vars}, nil
}

// reserved are parameters of transformers' apply_chat_template: they cannot be
// variables of the template.
var reserved = []string{
	"conversation", "messages", "chat_template", "add_generation_prompt", "continue_final_message", "tokenize",
	"padding", "truncation", "max_length", "return_tensors", "return_dict", "return_assistant_tokens_mask",
	"tokenizer_kwargs", "sanitize_control_tokens", "self",
}

// budget is the most that one rendering may cost, see python.Meter.
const budget = 1 << 28

// Render is the text of a conversation, up to where the assistant's answer begins.
// An error names the line of the template.
func (t *Template) Render(messages []Message, kwargs *Kwargs) (string, error) {
	if len(messages) == 0 {
		return "", errors.New("there are no messages")
	}
	return t.render(messages, kwargs, budget)
}

// RenderJSON is Render for a JSON list of messages, which may have more than a role and a text.
func (t *Template) RenderJSON(messages []byte, kwargs *Kwargs) (string, error) {
	v, err := python.ParseJSON(messages)
	if err != nil {
		return "", fmt.Errorf("reading messages: %w", err)
	}
	chat, ok := v.(python.List)
	if !ok || len(chat) == 0 {
		return "", errors.New("there are no messages")
	}
	return t.renderChat(chat, kwargs, budget)
}

func (t *Template) render(messages []Message, kwargs *Kwargs, budget int) (string, error) {
	chat := make(python.List, len(messages))
	for i, m := range messages {
		turn := python.NewDict()
		turn.Set("role", strings.ToValidUTF8(m.Role, "\ufffd"))
		turn.Set("content", strings.ToValidUTF8(m.Content, "\ufffd"))
		chat[i] = turn
	}
	return t.renderChat(chat, kwargs, budget)
}

func (t *Template) renderChat(chat python.List, kwargs *Kwargs, budget int) (string, error) {
	vars := map[string]python.Value{"tools": nil, "documents": nil, "messages": chat, "add_generation_prompt": true}
	maps.Copy(vars, t.tokens)
	if kwargs != nil {
		for name, v := range kwargs.vars.All() {
			vars[name.(string)] = v
		}
	}
	chosen, err := t.chosen(vars["tools"] != nil)
	if err != nil {
		return "", err
	}
	return chosen.Run(python.NewMeter(budget), builtin.Globals(t.Now), vars)
}

// chosen is the program for conversations with tools, or without.
func (t *Template) chosen(tools bool) (*program.Program, error) {
	chosen, ok := t.variants[toolsName]
	if !tools || !ok {
		chosen, ok = t.variants[defaultName]
	}
	if !ok {
		names := slices.Sorted(maps.Keys(t.variants))
		return nil, fmt.Errorf("there are several and none is the default: %s", strings.Join(names, ", "))
	}
	return chosen.program, chosen.err
}
