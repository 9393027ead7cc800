package sim

import (
	"container/list"
	"net/http"
	"sync"
)

const (
	// blockSize is the number of tokens in a block of the KV cache, as in vLLM.
	blockSize = 16
	// unboundedBlocks is how many blocks of prefixes a cache without a size keeps: four million
	// tokens.
	unboundedBlocks = 1 << 18
)

// A kvCache hands out blocks to sequences. It remembers computed blocks of prompts and outputs by
// their tokens, so prompts with the same beginning share them. When no sequence uses them any more, they stay
// until their room is needed; the least recently used go first. It is safe for concurrent use.
type kvCache struct {
	size      int  // blocks; 0 for no limit
	remembers bool // share prefixes

	mu            sync.Mutex
	used          int // blocks that a sequence uses
	known         map[uint64]*block
	idle          list.List // known blocks that no sequence uses, last used first
	queries, hits int       // tokens looked up, and found
}

// A block has known contents.
type block struct {
	hash  uint64 // of all tokens up to its end
	users int
	place *list.Element // in idle; nil while used
}

// A holding is a sequence's part of the cache.
type holding struct {
	known []*block
	own   int // other blocks
	kept  int // blocks that keep or admit has looked at
}

func newKVCache(size int, remembers bool) *kvCache {
	return &kvCache{size: size, remembers: remembers, known: map[uint64]*block{}}
}

// blockHashes names the whole blocks of a text in parts. A block's hash covers what precedes it, so
// equal hashes mean equal prefixes.
func blockHashes(parts ...[]int) []uint64 {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	hashes := make([]uint64, 0, size/blockSize)
	h := chain(0)
	n := 0
	for _, part := range parts {
		for _, id := range part {
			h = h.add(uint64(id))
			if n++; n%blockSize == 0 {
				hashes = append(hashes, uint64(h))
			}
		}
	}
	return hashes
}

// A chain is a hash of numbers in order.
type chain uint64

// add mixes a number in, by the finalizer of SplitMix64.
func (h chain) add(n uint64) chain {
	x := uint64(h)*0x9e3779b97f4a7c15 + n + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return chain(x ^ x>>31)
}

// admit gives a waiting sequence the blocks for a chunk of at most that many tokens, and removes
// the known tokens from what it has to prefill. At least one token stays, since the next output
// token needs it.
// It reports whether there was room.
func (c *kvCache) admit(seq *sequence, chunk int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := 0
	for _, hash := range seq.blocks {
		b := c.known[hash]
		if b == nil || found+blockSize >= seq.unfilled {
			break
		}
		c.use(b)
		seq.kv.known = append(seq.kv.known, b)
		found += blockSize
	}
	if !c.extend(seq, found+min(chunk, seq.unfilled-found)) {
		c.release(seq)
		return false
	}
	seq.unfilled -= found
	seq.kv.kept = found / blockSize
	if c.remembers && seq.admitted.IsZero() {
		seq.found = found
		c.queries += seq.prompt
		c.hits += found
	}
	return true
}

// grow gives a sequence blocks for that many tokens in all, and reports whether
// there was room.
func (c *kvCache) grow(seq *sequence, tokens int) bool {
	if tokens <= blockSize*(len(seq.kv.known)+seq.kv.own) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.extend(seq, tokens)
}

func (c *kvCache) extend(seq *sequence, tokens int) bool {
	more := (tokens+blockSize-1)/blockSize - len(seq.kv.known) - seq.kv.own
	if more <= 0 {
		return true
	}
	if c.size > 0 && c.used+more > c.size {
		return false
	}
	c.used += more
	seq.kv.own += more
	c.makeRoom()
	return true
}

// makeRoom forgets idle blocks whose room is needed.
func (c *kvCache) makeRoom() {
	room := unboundedBlocks
	if c.size > 0 {
		room = c.size - c.used
	}
	for c.idle.Len() > room {
		b := c.idle.Remove(c.idle.Back()).(*block)
		delete(c.known, b.hash)
	}
}

func (c *kvCache) use(b *block) {
	if b.users++; b.users == 1 {
		c.idle.Remove(b.place)
		b.place = nil
		c.used++
	}
}

// keep remembers the blocks of a sequence that have been computed. If another sequence has made a
// block known by then, the block stays private.
func (c *kvCache) keep(seq *sequence) {
	whole := min(seq.computed()/blockSize, len(seq.blocks))
	if !c.remembers || whole <= seq.kv.kept {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, hash := range seq.blocks[seq.kv.kept:whole] {
		if c.known[hash] == nil {
			b := &block{hash: hash, users: 1}
			c.known[hash] = b
			seq.kv.known = append(seq.kv.known, b)
			seq.kv.own--
		}
	}
	seq.kv.kept = whole
}

// free releases all blocks of a sequence.
func (c *kvCache) free(seq *sequence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(seq)
}

func (c *kvCache) release(seq *sequence) {
	c.used -= seq.kv.own
	for i := len(seq.kv.known) - 1; i >= 0; i-- { // so that ends of prompts are dropped before beginnings
		b := seq.kv.known[i]
		if b.users--; b.users > 0 {
			continue
		}
		c.used--
		if c.known[b.hash] == b {
			b.place = c.idle.PushFront(b)
		}
	}
	seq.kv = holding{}
	c.makeRoom()
}

// counts are the prompt tokens looked up and found, and the share of blocks in use; 0 without a
// limit.
func (c *kvCache) counts() (queries, hits int, usage float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queries, c.hits, float64(c.used) / float64(max(c.size, 1))
}

// forget forgets the contents of idle blocks. Sequences keep theirs.
func (c *kvCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	c.idle.Init()
}

// resetPrefixCache answers POST /reset_prefix_cache.
func (s *Server) resetPrefixCache(http.ResponseWriter, *http.Request) { s.engine.kv.forget() }
