package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A template holds the ids that a post-processor puts around a single sequence.
// The zero value adds none.
type template struct{ before, after []int }

// templateKinds are the kinds of post-processors that a document may have.
func templateKinds() []kind[template] {
	return []kind[template]{
		{name: "Sequence", read: newTemplates, but: "two that add tokens"},
		{name: "BertProcessing", read: newBertProcessing},
		{name: "ByteLevel", read: newByteLevelProcessing},
		{name: "RobertaProcessing", read: newBertProcessing},
		{name: "TemplateProcessing", read: newSingle, but: "a single template without the text, or with it twice"},
	}
}

// newTemplate reads the post-processor of a document.
func newTemplate(s section) (template, error) {
	if s.absent() {
		return template{}, nil
	}
	return choose(s, templateKinds())
}

// newByteLevelProcessing reads a ByteLevel, which changes offsets only.
func newByteLevelProcessing(s section) (template, error) {
	_, err := newByteLevel(s)
	return template{}, err
}

// newTemplates reads a Sequence, in which at most one may add tokens.
func newTemplates(s section) (template, error) {
	var all template
	processors, err := readAll(s, "processors", newTemplate)
	for _, one := range processors {
		if all.len() > 0 && one.len() > 0 {
			return all, s.errorf("two that add tokens are not supported")
		}
		all = template{slices.Concat(all.before, one.before), slices.Concat(all.after, one.after)}
	}
	return all, err
}

// newBertProcessing reads a BertProcessing or a RobertaProcessing, which do the same to one sequence.
func newBertProcessing(s section) (template, error) {
	var bert struct {
		Type           string   `json:"type"`
		Sep            numbered `json:"sep"`
		Cls            numbered `json:"cls"`
		TrimOffsets    bool     `json:"trim_offsets"`
		AddPrefixSpace bool     `json:"add_prefix_space"`
	}
	err := s.read(&bert)
	return template{before: []int{bert.Cls.id}, after: []int{bert.Sep.id}}, err
}

// A numbered token has a text and an id: ["[CLS]", 101].
type numbered struct{ id int }

func (n *numbered) UnmarshalJSON(raw []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("%s is not a token and its id", raw)
	}
	return json.Unmarshal(pair[1], &n.id)
}

// newSingle reads the template for a single sequence.
func newSingle(s section) (template, error) {
	var t template
	var processor struct {
		Single []struct {
			SpecialToken *struct{ ID string }
			Sequence     *struct{ ID string }
		}
		SpecialTokens map[string]struct{ IDs []int } `json:"special_tokens"`
	}
	if err := json.Unmarshal(s.raw, &processor); err != nil {
		return t, s.errorf("%w", err)
	}
	sequences := 0
	for i, piece := range processor.Single {
		switch {
		case piece.Sequence != nil && piece.Sequence.ID == "A":
			sequences++
		case piece.SpecialToken != nil:
			token, ok := processor.SpecialTokens[piece.SpecialToken.ID]
			if !ok {
				return t, s.errorf("special token %q has no ids", piece.SpecialToken.ID)
			}
			if sequences == 0 {
				t.before = append(t.before, token.IDs...)
			} else {
				t.after = append(t.after, token.IDs...)
			}
		default:
			return t, s.errorf("single[%d] is neither a special token nor sequence A", i)
		}
	}
	if sequences != 1 {
		return t, s.errorf("the single template holds sequence A %d times, not once", sequences)
	}
	return t, nil
}

func (t template) len() int { return len(t.before) + len(t.after) }
