package tokenizer

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
)

// A variant is a small tokenizer with a change, and what Hugging Face's library
// makes of some texts and ids with it. testdata/train.py makes them.
type variant struct {
	Name, Base string
	Change     map[string]json.RawMessage
	Special    int
	Texts      []struct {
		Text    string
		IDs     []int
		Full    []int   // with special tokens, where they add some
		Decoded *string // where it is not Text
	}
	IDs []struct {
		IDs     []int
		Decoded string
	}
}

func readVariants(t testing.TB) (variants []variant) {
	t.Helper()
	data, err := os.ReadFile("testdata/variants.json")
	if err == nil {
		err = json.Unmarshal(data, &variants)
	}
	if err != nil {
		t.Fatal(err)
	}
	return variants
}

// tokenizer is the base with the change.
func (v *variant) tokenizer(t testing.TB) *pipeline {
	t.Helper()
	return mustParse(t, string(v.document(t)))
}

func (v *variant) document(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + v.Base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	change := maps.Clone(v.Change)
	if model, ok := change["model"]; ok {
		change["model"] = merged(t, modelOf(t, data), model)
	}
	raw, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	return merged(t, data, raw)
}

func modelOf(t testing.TB, data []byte) json.RawMessage {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Model
}

// merged is a JSON object with the fields of another put over its own.
func merged(t testing.TB, object, over []byte) []byte {
	var fields map[string]json.RawMessage
	for _, data := range [][]byte{object, over} {
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryPartDoesWhatHuggingFaceDoes(t *testing.T) {
	for _, v := range readVariants(t) {
		t.Run(v.Name, func(t *testing.T) {
			tok := v.tokenizer(t)
			if tok.NumSpecial() != v.Special {
				t.Errorf("NumSpecial = %d, want %d", tok.NumSpecial(), v.Special)
			}
			for _, row := range v.Texts {
				if row.Full == nil {
					row.Full = row.IDs
				}
				if row.Decoded == nil {
					row.Decoded = &row.Text
				}
				if got := tok.Encode(row.Text, false); !slices.Equal(got, row.IDs) {
					t.Errorf("Encode(%+q, false)\n got %v\nwant %v", row.Text, got, row.IDs)
				}
				if got := tok.Encode(row.Text, true); !slices.Equal(got, row.Full) {
					t.Errorf("Encode(%+q, true)\n got %v\nwant %v", row.Text, got, row.Full)
				}
				if got := tok.Count(row.Text, true); got != len(row.Full) {
					t.Errorf("Count(%+q, true) = %d, want %d", row.Text, got, len(row.Full))
				}
				if got := tok.Decode(row.Full); got != *row.Decoded {
					t.Errorf("Decode(%v)\n got %+q\nwant %+q", row.Full, got, *row.Decoded)
				}
			}
			for _, row := range v.IDs {
				if got := tok.Decode(row.IDs); got != row.Decoded {
					t.Errorf("Decode(%v)\n got %+q\nwant %+q", row.IDs, got, row.Decoded)
				}
			}
		})
	}
}
