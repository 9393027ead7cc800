package tokenizer

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
)

// A vocabulary has the text of each id and finds the id of a text: a hash table with open
// addressing, at most two thirds full. It takes a fraction of the time that a map takes to fill.
type vocabulary struct {
	texts []string // of each id; empty for unused ids
	size  int      // number of tokens
	slots []vocabularySlot
	seed  maphash.Seed
	alike bool // two tokens have the same hash, or the same text

	pieces *prefixes // used in place of slots, if it is not nil
}

type vocabularySlot struct {
	hash uint64
	next int32 // the id and 1; 0 in an empty slot
}

// maxID bounds the ids of a vocabulary, so that a broken file does not take all
// memory.
const maxID = 1<<22 - 1

// newVocabulary makes a vocabulary for at most size tokens.
func newVocabulary(size int) *vocabulary {
	return &vocabulary{
		texts: make([]string, 0, size),
		slots: make([]vocabularySlot, 1<<bits.Len(uint(size+size/2))),
		seed:  maphash.MakeSeed(),
	}
}

// vocabularyOf is the vocabulary of a map. Of several errors it always returns the same.
func vocabularyOf(ids map[string]int32) (*vocabulary, error) {
	v := newVocabulary(len(ids))
	for _, text := range slices.Sorted(maps.Keys(ids)) {
		if err := v.add(text, ids[text]); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// vocabularyOfPieces is the vocabulary of the tokens of a unigram model, by id. It finds the last one
// of equal tokens.
func vocabularyOfPieces(texts []string) *vocabulary {
	return &vocabulary{texts: texts, size: len(texts), seed: maphash.MakeSeed(), pieces: newPrefixes(texts)}
}

// readWords is the vocabulary of a model, and its token for unknown words. The vocabulary is in b
// unless it is nil.
func readWords(s section, b *bulk, ids map[string]int32, unknown string) (*vocabulary, int32, error) {
	if b == nil {
		vocab, err := vocabularyOf(ids)
		if err != nil {
			return nil, 0, s.errorf("%w", err)
		}
		b = &bulk{vocab: vocab}
	}
	id, ok := b.vocab.id(unknown)
	if !ok {
		return nil, 0, s.errorf("unk_token %q is not in the vocabulary", unknown)
	}
	return b.vocab, id, nil
}

// add adds a token. At most size tokens can be added.
func (v *vocabulary) add(text string, id int32) error {
	if err := setText(&v.texts, int(id), text); err != nil {
		return err
	}
	hash := v.hash(text)
	at := hash
	for ; v.slot(at).next != 0; at++ {
		if s := v.slot(at); s.hash == hash {
			v.alike = true
		}
	}
	*v.slot(at) = vocabularySlot{hash, id + 1}
	v.size++
	return nil
}

func (v *vocabulary) hash(text string) uint64 { return maphash.String(v.seed, text) }

func (v *vocabulary) slot(at uint64) *vocabularySlot { return &v.slots[at&uint64(len(v.slots)-1)] }

// id is the id of a token, if the vocabulary has it.
func (v *vocabulary) id(text string) (id int32, ok bool) {
	if v.pieces != nil {
		return v.pieces.id(text)
	}
	return find(v, text, v.hash(text))
}

// blanks are the ids of empty tokens.
func (v *vocabulary) blanks() (ids []int) {
	if id, ok := v.id(""); ok {
		ids = append(ids, int(id))
	}
	for id, text := range v.texts {
		if v.pieces != nil && text == "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// all are the ids of the tokens of all bytes, or -1.
func (v *vocabulary) all(texts [256]string) (ids [256]int32) {
	for b, text := range texts {
		id, ok := v.id(text)
		if ids[b] = -1; ok {
			ids[b] = id
		}
	}
	return ids
}

// idOf is id for a text in bytes.
func (v *vocabulary) idOf(text []byte) (id int32, ok bool) {
	return find(v, text, maphash.Bytes(v.seed, text))
}

func find[T string | []byte](v *vocabulary, text T, hash uint64) (id int32, ok bool) {
	for at := hash; ; at++ {
		s := v.slot(at)
		if s.next == 0 {
			return 0, false
		}
		if s.hash == hash && v.texts[s.next-1] == string(text) {
			return s.next - 1, true
		}
	}
}

// token is the id of a text that should be a token, unless v.alike. It looks at the hash only, so it
// is fast. Any other text passes for a token with a probability of size/2⁶⁴.
func (v *vocabulary) token(text []byte) (id int32, ok bool) {
	hash := maphash.Bytes(v.seed, text)
	for at := hash; ; at++ {
		if s := v.slot(at); s.hash == hash || s.next == 0 {
			return s.next - 1, s.next != 0
		}
	}
}

// setText sets the text of an id, and makes room for it.
func setText(texts *[]string, id int, text string) error {
	if id < 0 || id > maxID {
		return fmt.Errorf("token %q has the id %d, which is not between 0 and %d", text, id, maxID)
	}
	if missing := id + 1 - len(*texts); missing > 0 {
		*texts = append(*texts, make([]string, missing)...)
	}
	if other := (*texts)[id]; other != "" && other != text {
		return fmt.Errorf("tokens %q and %q have the same id, %d", min(text, other), max(text, other), id)
	}
	(*texts)[id] = text
	return nil
}
