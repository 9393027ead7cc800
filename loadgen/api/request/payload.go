package request

import (
	"encoding/json"
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// PromptOf is the prompt of a turn without messages, as vLLM's client sends it where an API has one
// member for it: as the dataset has it.
func PromptOf(turn *dataset.Turn) (any, error) {
	switch p := turn.Payload; {
	case p != nil && p.Batch != nil:
		return p.Batch, nil
	case p != nil && p.Content != nil:
		return spelledOf(p.Content)
	case turn.TokenIDs != nil:
		return turn.TokenIDs, nil
	}
	return turn.Prompt, nil
}

// spelledOf is raw as a value for package pyjson. It is copied if that would not change a byte.
func spelledOf(raw json.RawMessage) (any, error) {
	if pyjson.Spelled(raw) {
		return raw, nil
	}
	v, err := pyjson.Parse(string(raw))
	if err != nil {
		return nil, fmt.Errorf("reading the parts of a prompt: %w", err)
	}
	return v, nil
}

// overrides are the members that a payload sets.
func overrides(p *dataset.Payload) (pyjson.Object, error) {
	if p == nil || p.Members == nil {
		return nil, nil
	}
	v, err := pyjson.Parse(string(p.Members))
	if err != nil {
		return nil, fmt.Errorf("reading the members of a request: %w", err)
	}
	members, ok := v.(pyjson.Object)
	if !ok {
		return nil, fmt.Errorf("the members of a request are no object: %.40s", p.Members)
	}
	return members, nil
}

// sizeOf is about how many bytes a turn adds to a body.
func sizeOf(turn *dataset.Turn) int {
	size := len(turn.Prompt) + 8*len(turn.TokenIDs) + len(turn.Messages)
	if p := turn.Payload; p != nil {
		size += len(p.Content) + len(p.Members)
		for _, prompt := range p.Batch {
			size += len(prompt) + len(`"", `)
		}
		for i := range p.Media {
			size += len(p.Media[i].Part) + len(", ")
		}
	}
	return size
}
