package tokenizer

import (
	"encoding/json"
	"fmt"
)

// A template holds the ids that a post-processor puts around a single sequence.
// The zero value adds none.
type template struct {
	before, after []int
	adds          bool // it is of a kind that adds tokens, even if it adds none
}

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
		if all.adds && one.adds {
			return all, s.errorf("two that add tokens are not supported")
		}
		if one.adds {
			all = one
		}
	}
	return all, err
}

// newBertProcessing reads a BertProcessing or a RobertaProcessing, which do the same to one sequence.
func newBertProcessing(s section) (template, error) {
	var bert struct {
		Type           string   `json:"type"`
		Sep            numbered `json:"sep"`
		Cls            numbered `json:"cls"`
		TrimOffsets    bool     `json:"trim_offsets,omitzero"`
		AddPrefixSpace bool     `json:"add_prefix_space,omitzero"`
	}
	err := s.read(&bert)
	return template{before: []int{int(bert.Cls.id)}, after: []int{int(bert.Sep.id)}, adds: true}, err
}

// A numbered token has a text and an id: ["[CLS]", 101].
type numbered struct{ id uint32 }

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
	t := template{adds: true}
	var processor struct {
		Single []struct {
			SpecialToken *struct{ ID string }
			Sequence     *struct{ ID string }
		}
		SpecialTokens map[string]struct {
			IDs []uint32 `json:"ids"`
		} `json:"special_tokens"`
	}
	if err := json.Unmarshal(s.raw, &processor); err != nil {
		return t, s.errorf("%w", plain(err))
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
			for _, id := range token.IDs {
				if sequences == 0 {
					t.before = append(t.before, int(id))
				} else {
					t.after = append(t.after, int(id))
				}
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
