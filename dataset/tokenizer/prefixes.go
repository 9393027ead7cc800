package tokenizer

import "math/bits"

// prefixes finds the tokens that a text begins with: a hash table of tokens with open addressing, at
// most two thirds full, and a filter of all beginnings of tokens. The hash of a text follows from
// the hash of the text without its last byte, so one pass meets all tokens.
type prefixes struct {
	texts  []string // of each id
	slots  []vocabularySlot
	shift  int
	filter []uint64 // a bit for the hash of each beginning
}

// prefixSeed is the hash of the empty text.
const prefixSeed = 0x2545f4914f6cdd1d

// stepped is the hash of a text and one more byte.
func stepped(hash uint64, b byte) uint64 {
	const golden = 0x9e3779b97f4a7c15
	return (hash ^ uint64(b)) * golden
}

// hashed is the hash of a text after one with that hash.
func hashed(hash uint64, text string) uint64 {
	for i := range len(text) {
		hash = stepped(hash, text[i])
	}
	return hash
}

// newPrefixes makes the prefixes of tokens, by id. Of equal tokens the last one counts.
func newPrefixes(texts []string) *prefixes {
	width := bits.Len(uint(len(texts) + len(texts)/2))
	p := &prefixes{
		texts: texts, slots: make([]vocabularySlot, 1<<width), shift: 64 - width,
		filter: make([]uint64, max(1, 1<<width/8)), // twelve bits or so for each token
	}
	for id, text := range texts {
		hash := uint64(prefixSeed)
		for i := range len(text) {
			hash = stepped(hash, text[i])
			word, bit := p.bit(hash)
			p.filter[word] |= bit
		}
		*p.slot(hash, "", text) = vocabularySlot{hash, int32(id) + 1}
	}
	return p
}

// bit is where the filter has the bit of a hash.
func (p *prefixes) bit(hash uint64) (word int, bit uint64) {
	at := hash >> (p.shift - 3) & uint64(len(p.filter)*64-1)
	return int(at / 64), 1 << (at % 64)
}

// slot is the slot of the token that head and text make, or the empty slot for it.
func (p *prefixes) slot(hash uint64, head, text string) *vocabularySlot {
	for at := hash >> p.shift; ; at++ {
		s := &p.slots[at&uint64(len(p.slots)-1)]
		if s.next == 0 || s.hash == hash && p.is(s.next-1, head, text) {
			return s
		}
	}
}

// id is the id of a token.
func (p *prefixes) id(text string) (id int32, ok bool) {
	s := p.slot(hashed(prefixSeed, text), "", text)
	return s.next - 1, s.next != 0
}

func (p *prefixes) is(id int32, head, text string) bool {
	token := p.texts[id]
	return len(token) == len(head)+len(text) && token[:len(head)] == head && token[len(head):] == text
}

// A walk meets the tokens that a text begins with, the shortest first.
type walk struct {
	*prefixes
	hash uint64
	head string // what is before text in each token; hash is its hash
	text string
	end  int
}

// next is the next token, and where it ends in the text.
func (w *walk) next() (id int32, ok bool) {
	for w.end < len(w.text) {
		w.hash = stepped(w.hash, w.text[w.end])
		word, bit := w.bit(w.hash)
		if w.filter[word]&bit == 0 {
			break
		}
		w.end++
		if s := w.slot(w.hash, w.head, w.text[:w.end]); s.next != 0 {
			return s.next - 1, true
		}
	}
	return 0, false
}
