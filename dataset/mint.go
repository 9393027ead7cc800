package dataset

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// A Minter makes prompts of blocks. The tokens of a block depend on its ID and its length alone, so
// equal blocks have equal tokens in every session, shard and run. A Minter is safe for concurrent
// use.
//
// Numpy's default_rng draws the tokens of a block. Its seed is the FNV-1a hash of the ID and the
// length, as in "7:512".
type Minter struct {
	allowed []int    // ids to draw from; nil to draw from words
	words   []string // each is one token after any other of them, with a space in between
	around  int      // tokens that the tokenizer adds to a text
}

// A Minter draws texts from at most maxWords, because more cost time to find. With fewer than
// minWords, different blocks might begin alike.
const (
	minWords = 16
	maxWords = 1 << 12
)

// NewMinter makes a Minter of token ids from the vocabulary of o, special tokens left out. With
// text, it makes prompts of text instead; o needs a Tokenizer then. A text of n tokens is words
// whose tokens the tokenizer finds again one by one, less what it adds, such as BOS: so it counts n
// tokens, and prompts share their first tokens exactly where they share blocks.
func NewMinter(o *Options, text bool) (*Minter, error) {
	if !text {
		allowed, err := o.Allowed()
		if err != nil {
			return nil, err
		}
		return &Minter{allowed: allowed}, nil
	}
	if o.Tokenizer == nil {
		return nil, errors.New("prompts of blocks need a tokenizer to be sent as text")
	}
	words, err := stableWords(o.Tokenizer)
	if err != nil {
		return nil, err
	}
	return &Minter{words: words, around: o.Tokenizer.NumSpecial()}, nil
}

// BlockID is the ID of a block that a source names id. Equal ids mean equal blocks only within a
// scope, such as a file or a session.
func BlockID(seed int64, scope, id string) uint64 {
	var space [64]byte
	key := append(strconv.AppendInt(space[:0], seed, 10), ':')
	key = append(append(key, scope...), ':')
	return fnv1a(append(key, id...))
}

// Mint sets the prompt of a turn to the tokens of its blocks, or to their text.
func (m *Minter) Mint(t *Turn) error {
	n := 0
	for b := range t.AllBlocks() {
		n += int(b.Tokens)
	}
	if t.PromptLen = n; m.words != nil {
		t.Prompt = m.text(t, n)
		return nil
	}
	t.TokenIDs = make([]int, 0, n)
	for b := range t.AllBlocks() {
		rng := b.generator()
		for range b.Tokens {
			t.TokenIDs = append(t.TokenIDs, m.allowed[rng.Integers(0, int64(len(m.allowed)))])
		}
	}
	return nil
}

// text is the text of the blocks of a turn, n tokens with those that the tokenizer adds. Those take
// the place of the first words.
func (m *Minter) text(t *Turn, n int) string {
	var text strings.Builder
	text.Grow(n * meanWord)
	skip := min(m.around, n-1)
	for b := range t.AllBlocks() {
		rng := b.generator()
		for range b.Tokens {
			word := m.words[rng.Integers(0, int64(len(m.words)))]
			if skip > 0 {
				skip--
				continue
			}
			if text.Len() > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(word)
		}
	}
	return text.String()
}

// meanWord is about how many bytes a word has, with its space.
const meanWord = 8

func (b Block) generator() nprand.Generator {
	var space [32]byte
	key := append(strconv.AppendUint(space[:0], b.ID, 10), ':')
	return nprand.NewGenerator(fnv1a(strconv.AppendInt(key, int64(b.Tokens), 10)))
}

// fnv1a is the 64-bit FNV-1a hash. The one of the standard library allocates.
func fnv1a(key []byte) uint64 {
	hash := uint64(0xcbf29ce484222325)
	for _, b := range key {
		hash = (hash ^ uint64(b)) * 0x100000001b3
	}
	return hash
}

// stableWords are words that stay one token each wherever they stand in a text of such words.
func stableWords(t tokenizer.Tokenizer) ([]string, error) {
	var words []string
	var ids []int // of the words, after another word
	seen := map[int]bool{}
	for id := range t.VocabSize() {
		word := strings.TrimPrefix(t.Decode([]int{id}), " ")
		if !plainWord(word) {
			continue
		}
		pair := t.Encode(word+" "+word, false)
		if len(pair) != 2 || seen[pair[1]] {
			continue
		}
		seen[pair[1]] = true
		words, ids = append(words, word), append(ids, pair[1])
		if len(words) == maxWords {
			break
		}
	}
	if len(words) < minWords {
		return nil, fmt.Errorf("the tokenizer has %d words of one token: prompts of blocks need %d to be sent as text",
			len(words), minWords)
	}
	text := t.Encode(strings.Join(words, " "), false)
	if len(text) != len(ids) {
		return nil, fmt.Errorf("the tokenizer makes %d tokens of %d words of one token: prompts of blocks cannot be sent "+
			"as text", len(text), len(ids))
	}
	for i, id := range text[1:] {
		if id != ids[i+1] {
			return nil, fmt.Errorf("the tokenizer does not find the word %q again in a text: prompts of blocks cannot be "+
				"sent as text", words[i+1])
		}
	}
	return words, nil
}

// plainWord reports whether a word is an ASCII letter and then letters or digits.
func plainWord(word string) bool {
	for i := range len(word) {
		c := word[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return word != ""
}
