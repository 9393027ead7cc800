package tokenizer

import (
	"slices"
	"strconv"
	"strings"
)

// A Stub is the simulator's tokenizer. Id N is the word "tokN", white space
// separates words, and any other word is id 0. It has no vocabulary: it computes
// ids.
type Stub struct {
	Size    int   // of the vocabulary
	BOS     []int // put before a single sequence if special tokens are requested
	Special []int // ids of the special tokens, ascending
}

const stubPrefix = "tok"

func (s Stub) Encode(text string, special bool) []int {
	// A word with its space is rarely shorter than six bytes.
	ids := make([]int, 0, len(s.BOS)+len(text)/6+1)
	if special {
		ids = append(ids, s.BOS...)
	}
	for word := range strings.FieldsSeq(text) {
		ids = append(ids, s.id(word))
	}
	return ids
}

func (s Stub) Count(text string, special bool) int {
	n := 0
	if special {
		n = len(s.BOS)
	}
	for range strings.FieldsSeq(text) {
		n++
	}
	return n
}

func (s Stub) Decode(ids []int) string {
	text := make([]byte, 0, len(ids)*(len(stubPrefix)+6))
	for _, id := range ids {
		if id < 0 || id >= s.Size {
			continue
		}
		if len(text) > 0 {
			text = append(text, ' ')
		}
		text = append(text, stubPrefix...)
		text = strconv.AppendInt(text, int64(id), 10)
	}
	return string(text)
}

func (s Stub) VocabSize() int    { return s.Size }
func (s Stub) SpecialIDs() []int { return slices.Clone(s.Special) }
func (s Stub) NumSpecial() int   { return len(s.BOS) }

// id is the id of a word. Words of the vocabulary are spelled as by Decode: tok007 is not one.
func (s Stub) id(word string) int {
	digits, ok := strings.CutPrefix(word, stubPrefix)
	if !ok || digits == "" || (digits[0] == '0' && digits != "0") {
		return 0
	}
	id := 0
	for i := range len(digits) {
		d := int(digits[i]) - '0'
		if d < 0 || d > 9 {
			return 0
		}
		if id = id*10 + d; id >= s.Size {
			return 0
		}
	}
	return id
}
