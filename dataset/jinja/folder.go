package jinja

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/servebench/servebench/dataset/jinja/python"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Open reads the chat template in a model's folder. It takes the first of:
// chat_template.jinja with the files in additional_chat_templates, chat_template in
// tokenizer_config.json, and chat_template in chat_template.json. The special tokens
// come from tokenizer_config.json; special_tokens_map.json has the ones missing there.
func Open(folder string) (*Template, error) {
	config, err := readFields(folder, "tokenizer_config.json")
	if err != nil {
		return nil, err
	}
	tokens, err := specialTokens(folder, config)
	if err != nil {
		return nil, err
	}
	sources, err := templates(folder, config)
	if err != nil {
		return nil, err
	}
	t := &Template{tokens: tokens}
	t.parse(sources)
	if _, err := t.chosen(false); err != nil {
		return nil, fmt.Errorf("chat template of %s: %w", folder, err)
	}
	return t, nil
}

// readFields reads a JSON object. A missing file has no fields.
func readFields(folder, name string) (map[string]json.RawMessage, error) {
	text, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(pyjson.StrictText(text), &fields); err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(folder, name), err)
	}
	return fields, nil
}

// ErrNone says that a model's folder has no chat template.
var ErrNone = errors.New("has no chat template")

// templates finds the sources by name.
func templates(folder string, config map[string]json.RawMessage) (map[string]string, error) {
	sources, err := templateFiles(folder)
	if err != nil || len(sources) > 0 {
		return sources, err
	}
	if present(config["chat_template"]) {
		return namedTemplates(filepath.Join(folder, "tokenizer_config.json"), config["chat_template"])
	}
	processor, err := readFields(folder, "chat_template.json")
	if err != nil {
		return nil, err
	}
	if present(processor["chat_template"]) {
		return namedTemplates(filepath.Join(folder, "chat_template.json"), processor["chat_template"])
	}
	return nil, fmt.Errorf("%s %w", folder, ErrNone)
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func templateFiles(folder string) (map[string]string, error) {
	sources := make(map[string]string)
	paths, err := filepath.Glob(filepath.Join(globQuoted(folder), "additional_chat_templates", "*.jinja"))
	if err != nil {
		return nil, err
	}
	names := map[string]string{filepath.Join(folder, "chat_template.jinja"): defaultName}
	for _, path := range paths {
		names[path] = strings.TrimSuffix(filepath.Base(path), ".jinja")
	}
	for path, name := range names {
		text, err := os.ReadFile(path)
		switch {
		case err == nil:
			sources[name] = string(text)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return sources, nil
}

var globQuotes = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func globQuoted(path string) string { return globQuotes.Replace(path) }

// namedTemplates reads one template, or a list of named templates.
func namedTemplates(file string, raw json.RawMessage) (map[string]string, error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return map[string]string{defaultName: one}, nil
	}
	var several []struct{ Name, Template string }
	if err := json.Unmarshal(raw, &several); err != nil {
		return nil, fmt.Errorf("reading %s: chat_template is neither a text nor a list of named ones", file)
	}
	sources := make(map[string]string)
	for _, t := range several {
		sources[t.Name] = t.Template
	}
	return sources, nil
}

var tokenNames = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

// specialTokens reads the tokens that a template gets. It leaves out null tokens.
func specialTokens(folder string, config map[string]json.RawMessage) (map[string]python.Value, error) {
	older, err := readFields(folder, "special_tokens_map.json")
	if err != nil {
		return nil, err
	}
	tokens := make(map[string]python.Value)
	for _, name := range tokenNames {
		raw, ok := config[name]
		if !ok {
			raw = older[name]
		}
		if !present(raw) {
			continue
		}
		if tokens[name], err = tokenText(raw); err != nil {
			return nil, fmt.Errorf("reading %s of %s: %w", name, folder, err)
		}
	}
	return tokens, additionalTokens(config, tokens)
}

// tokenText reads a token: its text, or an object with its content.
func tokenText(raw json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var object struct{ Content *string }
	if json.Unmarshal(raw, &object) != nil || object.Content == nil {
		return "", fmt.Errorf("%.60s is no token", raw)
	}
	return *object.Content, nil
}

func additionalTokens(config map[string]json.RawMessage, tokens map[string]python.Value) error {
	const name = "additional_special_tokens"
	var raws []json.RawMessage
	if !present(config[name]) || json.Unmarshal(config[name], &raws) != nil {
		return nil
	}
	all := make(python.List, len(raws))
	for i, raw := range raws {
		text, err := tokenText(raw)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		all[i] = text
	}
	tokens[name] = all
	return nil
}
