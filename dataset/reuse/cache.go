// Package reuse tells how many tokens of prompts a prefix cache would have.
package reuse

import (
	"container/list"
	"hash/fnv"
	"sync"

	"github.com/servebench/servebench/dataset"
)

// A Cache tells how many tokens of each prompt a prefix cache would have. It learns the prompts in
// the order in which Next gets them, and forgets none: an infinite cache. Without blocks, a prompt
// begins with its history. If it has none, it may begin as an earlier one does: how many tokens that
// is, is then estimated by the share of the text. It does not know the answers that are in
// prompts of blocks: a server that gets recorded answers has not generated them.
//
// It is safe for concurrent use. Its zero value is a cache like vLLM's.
type Cache struct {
	BlockSize int  // tokens; only whole blocks are in a cache; 0 means 16, as in vLLM
	Limit     int  // prompts' blocks to remember; 0 means 8 million, some 300 MB
	Live      bool // without blocks, the server generated the answers in the history

	mu     sync.Mutex
	known  map[uint64]struct{} // prefixes: of each prompt known, all of its prefixes are
	full   bool
	hashes []uint64 // of one prompt, to use again
}

const (
	cacheBlock = 16
	reuseLimit = 8 << 20
)

// Next returns how many of the first tokens of turn number i a cache would have: whole blocks, and
// at least one token is left to compute, since a server needs it for the next one. It returns −1 if
// it does not know: after more blocks than Limit, or if a prompt in the history has no length.
func (r *Cache) Next(c *dataset.Conversation, i int) (tokens int) {
	turn := &c.Turns[i]
	blocks := turn.Blocks != nil || turn.Tail.Tokens > 0
	if !blocks {
		if tokens = r.history(c, i); tokens != 0 || turn.PromptLen == 0 {
			return tokens
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full {
		return -1
	}
	if blocks {
		r.hashes = prefixes(turn, r.hashes[:0])
		return usable(turn, r.learn(), r.BlockSize)
	}
	size := max(len(turn.Prompt), len(turn.Messages))
	r.hashes = textPrefixes(turn, r.hashes[:0])
	return whole(r.learn()*textBlock*turn.PromptLen/max(size, 1), turn.PromptLen, r.BlockSize)
}

// learn learns the prefixes of r.hashes, and returns how many of them were known.
func (r *Cache) learn() (known int) {
	if r.known == nil {
		r.known = map[uint64]struct{}{}
	}
	found, after := 0, len(r.hashes) // known before found, unknown from after on
	for found < after {
		middle := (found + after) / 2
		if _, ok := r.known[r.hashes[middle]]; ok {
			found = middle + 1
		} else {
			after = middle
		}
	}
	for _, hash := range r.hashes[found:] {
		r.known[hash] = struct{}{}
	}
	limit := r.Limit
	if limit == 0 {
		limit = reuseLimit
	}
	if len(r.known) > limit {
		r.known, r.full = nil, true
	}
	return found
}

// history is Next for a prompt without blocks.
func (r *Cache) history(c *dataset.Conversation, i int) int {
	shared := 0
	for _, wait := range c.WaitsOf(i) {
		before := &c.Turns[wait.Turn]
		switch {
		case wait.History == dataset.Nothing && before.Agent == c.Turns[i].Agent, wait.History == dataset.Everything &&
			before.PromptLen == 0:
			return -1 // a whole prompt may begin as the one before; or the length is not known
		case wait.History == dataset.Everything:
			if shared = before.PromptLen; r.Live {
				shared += before.OutputLen
			}
		}
	}
	return whole(shared, c.Turns[i].PromptLen, r.BlockSize)
}

// usable is how many tokens a cache has that knows the first found blocks of a prompt.
func usable(turn *dataset.Turn, found, size int) int {
	shared, all := 0, 0
	for b := range turn.AllBlocks() {
		if all += int(b.Tokens); found > 0 {
			shared += int(b.Tokens)
			found--
		}
	}
	return whole(shared, all, size)
}

// whole is how many tokens in whole blocks a cache has of a prompt of n tokens, 0 if that is not
// known, if it has seen the first of them.
func whole(shared, n, size int) int {
	if size == 0 {
		size = cacheBlock
	}
	if n > 0 {
		shared = min(shared, n-1)
	}
	return shared / size * size
}

// prefixes appends a hash for each prefix of whole blocks of a prompt. Equal hashes mean equal
// prefixes.
func prefixes(turn *dataset.Turn, hashes []uint64) []uint64 {
	hash := uint64(0)
	for b := range turn.AllBlocks() {
		// The finalizer of MurmurHash3, over each block and the prefix before it.
		hash = hash*0x9e3779b97f4a7c15 + b.ID ^ uint64(b.Tokens)<<40
		hash = (hash ^ hash>>33) * 0xff51afd7ed558ccd
		hash = (hash ^ hash>>33) * 0xc4ceb9fe1a85ec53
		hash ^= hash >> 33
		hashes = append(hashes, hash)
	}
	return hashes
}

// An lru is a prefix cache of a limited size, which forgets what was least recently used, the end
// of a prompt before its beginning.
type lru struct {
	size   int // tokens
	used   int
	known  map[uint64]*list.Element
	recent list.List // of kept, used last first
}

// A kept is the last block of a prefix that a cache has.
type kept struct {
	hash   uint64
	tokens int
}

// next returns how many of the first tokens of a turn the cache has, and takes in its prompt.
func (l *lru) next(turn *dataset.Turn, hashes []uint64) int {
	found := 0
	for found < len(hashes) && l.known[hashes[found]] != nil {
		found++
	}
	blocks := turn.Blocks
	for i := len(hashes) - 1; i >= 0; i-- {
		if at := l.known[hashes[i]]; at != nil {
			l.recent.MoveToFront(at)
			continue
		}
		b := turn.Tail
		if i < len(blocks) {
			b = blocks[i]
		}
		l.known[hashes[i]] = l.recent.PushFront(kept{hashes[i], int(b.Tokens)})
		l.used += int(b.Tokens)
	}
	for l.used > l.size {
		last := l.recent.Remove(l.recent.Back()).(kept)
		delete(l.known, last.hash)
		l.used -= last.tokens
	}
	return usable(turn, found, 0)
}

// textBlock is how many bytes of a text count as one block.
const textBlock = 128

// textPrefixes appends a hash for each prefix of whole blocks of a prompt of text.
func textPrefixes(turn *dataset.Turn, hashes []uint64) []uint64 {
	text := []byte(turn.Prompt)
	if turn.Messages != nil {
		text = turn.Messages
	}
	hash := fnv.New64a()
	for ; len(text) >= textBlock; text = text[textBlock:] {
		hash.Write(text[:textBlock])
		hashes = append(hashes, hash.Sum64())
	}
	return hashes
}
