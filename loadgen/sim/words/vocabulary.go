package words

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/servebench/servebench/dataset/tokenizer"
)

// A Vocabulary has the plain words of a tokenizer: the tokens that are a word of letters and digits after
// a space. A text of such tokens encodes to the same tokens again, so an answer that comes back in
// the next prompt is what the cache has. It is safe for concurrent use.
type Vocabulary struct {
	tokens  tokenizer.Tokenizer
	special []int
	known   []atomic.Int32 // by id: 0 not looked at, or one of the below
}

const (
	plain int32 = 1 + iota
	odd
)

// New makes the vocabulary of a tokenizer, which must have ordinary tokens.
func New(t tokenizer.Tokenizer) *Vocabulary {
	return &Vocabulary{tokens: t, special: t.SpecialIDs(), known: make([]atomic.Int32, t.VocabSize())}
}

// draw is a plain word. If plain words are very rare, it may be another ordinary token.
func (w *Vocabulary) draw(r *rand.Rand) int {
	const tries = 1000
	id := 0
	for range tries {
		id = r.IntN(len(w.known))
		for slices.Contains(w.special, id) {
			id = r.IntN(len(w.known))
		}
		if w.plain(id) {
			break
		}
	}
	return id
}

func (w *Vocabulary) plain(id int) bool {
	what := w.known[id].Load()
	if what == 0 {
		what = odd
		if w.look(id) {
			what = plain
		}
		w.known[id].Store(what)
	}
	return what == plain
}

// look reports whether the second of two such tokens is a word after a space, and both encode to
// themselves.
func (w *Vocabulary) look(id int) bool {
	two := []int{id, id}
	text := w.tokens.Decode(two)
	word, spaced := strings.CutPrefix(strings.TrimPrefix(text, w.tokens.Decode(two[:1])), " ")
	strange := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return spaced && word != "" && !strings.ContainsFunc(word, strange) && slices.Equal(w.tokens.Encode(text, false), two)
}
