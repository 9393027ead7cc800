package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A template holds the ids that a post-processor puts around a single sequence.
// The zero value adds none.
type template struct{ before, after []int }

// newTemplate reads the post-processor of a document.
func newTemplate(raw json.RawMessage) (template, error) {
	if absent(raw) {
		return template{}, nil
	}
	switch typeOf(raw) {
	case "ByteLevel": // changes offsets only
		return template{}, nil
	case "TemplateProcessing":
		return newSingle(raw)
	case "Sequence":
		return newTemplates(raw)
	}
	return template{}, unsupported("post_processor", raw)
}

// newTemplates reads a Sequence, in which Hugging Face's library accepts at most one template.
func newTemplates(raw json.RawMessage) (template, error) {
	var all template
	var sequence struct {
		Type       string            `json:"type"`
		Processors []json.RawMessage `json:"processors"`
	}
	if err := decode(raw, &sequence); err != nil {
		return all, fmt.Errorf("post_processor: %w", err)
	}
	for _, raw := range sequence.Processors {
		one, err := newTemplate(raw)
		if err != nil {
			return all, err
		}
		if all.len() > 0 && one.len() > 0 {
			return all, fmt.Errorf("post_processor: two templates in a Sequence are not supported")
		}
		all = template{slices.Concat(all.before, one.before), slices.Concat(all.after, one.after)}
	}
	return all, nil
}

// newSingle reads the template for a single sequence.
func newSingle(raw json.RawMessage) (template, error) {
	var t template
	var processor struct {
		Single []struct {
			SpecialToken *struct{ ID string }
			Sequence     *struct{ ID string }
		}
		SpecialTokens map[string]struct{ IDs []int } `json:"special_tokens"`
	}
	if err := json.Unmarshal(raw, &processor); err != nil {
		return t, fmt.Errorf("post_processor: %w", err)
	}
	sequences := 0
	for i, piece := range processor.Single {
		switch {
		case piece.Sequence != nil && piece.Sequence.ID == "A":
			sequences++
		case piece.SpecialToken != nil:
			token, ok := processor.SpecialTokens[piece.SpecialToken.ID]
			if !ok {
				return t, fmt.Errorf("post_processor: special token %q has no ids", piece.SpecialToken.ID)
			}
			if sequences == 0 {
				t.before = append(t.before, token.IDs...)
			} else {
				t.after = append(t.after, token.IDs...)
			}
		default:
			return t, fmt.Errorf("post_processor: piece %d of the single template is neither a special token nor sequence A", i)
		}
	}
	if sequences != 1 {
		return t, fmt.Errorf("post_processor: the single template holds sequence A %d times, not once", sequences)
	}
	return t, nil
}

func (t template) len() int { return len(t.before) + len(t.after) }
