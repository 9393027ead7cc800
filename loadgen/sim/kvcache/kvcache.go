// Package kvcache models the KV cache of a server like vLLM: which blocks of tokens sequences hold, and
// which prefixes of texts it still knows. It holds no keys and values.
package kvcache

import (
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/sim/elastic"
)

const (
	// BlockSize is the number of tokens in a block of the KV cache, as in vLLM.
	BlockSize = 16
	// unboundedBlocks is how many blocks of prefixes a cache without a size keeps: four million
	// tokens.
	unboundedBlocks = 1 << 18
)

// A Cache hands out blocks to sequences. It remembers computed blocks of prompts and outputs by
// their tokens, so prompts with the same beginning share them. When no sequence uses them any more,
// they stay until their room is needed; the least recently used go first, the end of a text before
// its beginning. It is safe for concurrent use.
//
// The blocks that it remembers are a tree of runs, so that a long text costs no more than the texts
// that branch off it.
type Cache struct {
	// Pool has the memory of used blocks; nil if all of it is there from the start.
	Pool *elastic.Pool

	size      int  // blocks; 0 for no limit
	remembers bool // share prefixes

	mu            sync.Mutex
	used          int                  // blocks that a sequence uses
	known         map[uint64]*blockRun // by first hash
	idle          blockRun             // heads the ring of runs that no sequence uses, last used first
	idleBlocks    int                  // in that ring
	queries, hits int                  // tokens looked up, and found
	mapping       time.Duration        // of pages, which no step has spent yet
}

// A blockRun is blocks in a row with known contents. A sequence uses all of a run, and all before it.
type blockRun struct {
	hashes   []uint64  // of each block: all tokens up to its end
	at       int       // position of the first in the text, in blocks
	before   *blockRun // nil at the beginning of a text
	branches int       // runs that have this one before them
	owner    *Holding  // may add to it if nobody else uses it; nil while idle
	users    int
	lost     bool // the cache has been told to forget it

	newer, older *blockRun // in the ring of idle runs; nil while used
}

// A Holding is a sequence's part of the cache.
type Holding struct {
	// Blocks names the whole blocks of its prompt and output; nil without sharing of prefixes.
	Blocks []uint64

	end   *blockRun // the last of its known runs
	known int       // blocks in its known runs
	own   int       // other blocks
}

// New makes a cache of that many blocks, without a limit if it is 0. It shares prefixes if it remembers them.
func New(size int, remembers bool) *Cache {
	c := &Cache{size: size, remembers: remembers, known: map[uint64]*blockRun{}}
	c.idle.newer, c.idle.older = &c.idle, &c.idle
	return c
}

// BlocksOf is how many blocks hold that many tokens.
func BlocksOf(tokens int) int { return (tokens + BlockSize - 1) / BlockSize }

// Hashes names the whole blocks of a text in parts. A block's hash covers what precedes it, so
// equal hashes mean equal prefixes.
func Hashes(parts ...[]int) []uint64 {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	hashes := make([]uint64, 0, size/BlockSize)
	h := Chain(0)
	n := 0
	for _, part := range parts {
		for _, id := range part {
			h = h.Add(uint64(id))
			if n++; n%BlockSize == 0 {
				hashes = append(hashes, uint64(h))
			}
		}
	}
	return hashes
}

// A Chain is a hash of numbers in order.
type Chain uint64

// Add mixes a number in, by the finalizer of SplitMix64.
func (h Chain) Add(n uint64) Chain {
	x := uint64(h)*0x9e3779b97f4a7c15 + n + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return Chain(x ^ x>>31)
}

// Admit gives a waiting sequence the blocks for a chunk of at most that many of its unfilled tokens. It
// returns how many of these it found, which need no prefill. At least one token stays, since the next
// output token needs it. It reports whether there was room.
func (c *Cache) Admit(h *Holding, unfilled, chunk int) (found int, room bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for most := min(len(h.Blocks), (unfilled-1)/BlockSize); h.known < most; {
		if !c.follow(h, most) {
			break
		}
	}
	found = h.known * BlockSize
	if !c.extend(h, found+min(chunk, unfilled-found)) {
		c.release(h)
		return 0, false
	}
	return found, true
}

// Count counts the tokens of a prompt that was looked up, and those found. A cache that shares no prefixes
// looks up nothing.
func (c *Cache) Count(prompt, found int) {
	if !c.remembers {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queries += prompt
	c.hits += found
}

// follow lets a sequence use the known run that goes on where its known blocks end, as far as it has
// the sequence's blocks up to number most. It reports whether there is one.
func (c *Cache) follow(h *Holding, most int) bool {
	r := c.known[h.Blocks[h.known]]
	if r == nil {
		return false
	}
	blocks := h.Blocks[h.known:most]
	same := 1
	for same < min(len(blocks), len(r.hashes)) && blocks[same] == r.hashes[same] {
		same++
	}
	if same < len(r.hashes) {
		r = c.split(r, same)
	}
	if r.users++; r.users == 1 {
		c.take(r)
		c.used += same
	}
	h.end = r
	h.known += same
	return true
}

// split makes the first n blocks of a run a run, and returns it. The old run is the rest, so that
// those who use it use both.
func (c *Cache) split(r *blockRun, n int) *blockRun {
	front := &blockRun{hashes: r.hashes[:n:n], at: r.at, before: r.before, branches: 1, users: r.users}
	c.known[r.hashes[0]], c.known[r.hashes[n]] = front, r
	r.hashes, r.at, r.before = r.hashes[n:], r.at+n, front
	if r.users == 0 {
		front.newer, front.older = r.newer, r
		front.newer.older, r.newer = front, front
	}
	return front
}

// take takes a run out of the ring of idle ones.
func (c *Cache) take(r *blockRun) {
	if r.newer == nil {
		return
	}
	r.newer.older, r.older.newer = r.older, r.newer
	r.newer, r.older = nil, nil
	c.idleBlocks -= len(r.hashes)
}

// Grow gives a sequence blocks for that many tokens in all, and reports whether there was room.
func (c *Cache) Grow(h *Holding, tokens int) bool {
	if tokens <= BlockSize*(h.known+h.own) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.extend(h, tokens)
}

func (c *Cache) extend(h *Holding, tokens int) bool {
	more := BlocksOf(tokens) - h.known - h.own
	if more <= 0 {
		return true
	}
	if c.size > 0 && c.used+more > c.size || !c.resize(c.used+more) {
		return false
	}
	c.used += more
	h.own += more
	c.makeRoom()
	return true
}

// resize gets memory for that many used blocks, or returns it. It reports whether there was any.
func (c *Cache) resize(blocks int) bool {
	if c.Pool == nil {
		return true
	}
	took, ok := c.Pool.Use(blocks)
	c.mapping += took
	return ok
}

// Mapped is how long the pages took that were mapped since the last call.
func (c *Cache) Mapped() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := c.mapping
	c.mapping = 0
	return took
}

// makeRoom forgets idle blocks whose room is needed.
func (c *Cache) makeRoom() {
	room := unboundedBlocks
	if c.size > 0 {
		room = c.size - c.used
	}
	for c.idleBlocks > room {
		r := c.idle.newer // the oldest, as the ring closes there
		if more := c.idleBlocks - room; more < len(r.hashes) {
			r.hashes = r.hashes[:len(r.hashes)-more]
			c.idleBlocks = room
			return
		}
		c.take(r)
		delete(c.known, r.hashes[0])
		if r.before != nil {
			r.before.branches--
		}
	}
}

// Keep remembers the blocks of a sequence of which that many tokens have been computed. If another
// sequence has made them known by then, it shares them.
func (c *Cache) Keep(h *Holding, computed int) {
	whole := min(computed/BlockSize, len(h.Blocks))
	if !c.remembers || whole <= h.known {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if end := h.end; end != nil && end.lost {
		return
	}
	first := h.known
	for h.known < whole && c.follow(h, whole) {
	}
	c.used -= h.known - first // it gives its copies back
	if end := h.end; end != nil && end.owner == h && end.users == 1 && end.branches == 0 {
		end.hashes = h.Blocks[end.at:whole:whole]
	} else if h.known < whole {
		r := &blockRun{hashes: h.Blocks[h.known:whole:whole], at: h.known, before: end, owner: h, users: 1}
		c.known[r.hashes[0]] = r
		if end != nil {
			end.branches++
		}
		h.end = r
	}
	h.known = whole
	h.own -= whole - first
}

// Free releases all blocks of a sequence.
func (c *Cache) Free(h *Holding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(h)
}

func (c *Cache) release(h *Holding) {
	c.used -= h.own
	for r := h.end; r != nil; r = r.before { // so that ends of texts are dropped before beginnings
		if r.users--; r.users > 0 {
			continue
		}
		c.used -= len(r.hashes)
		r.owner = nil
		if r.lost {
			continue
		}
		r.newer, r.older = &c.idle, c.idle.older
		r.older.newer, c.idle.older = r, r
		c.idleBlocks += len(r.hashes)
	}
	h.end, h.known, h.own = nil, 0, 0
	c.resize(c.used)
	c.makeRoom()
}

// Size is how many blocks there are; 0 for no limit.
func (c *Cache) Size() int { return c.size }

// Counts are the prompt tokens looked up and found, and the share of blocks in use; 0 without a
// limit.
func (c *Cache) Counts() (queries, hits int, usage float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queries, c.hits, float64(c.used) / float64(max(c.size, 1))
}

// Forget forgets the contents of idle blocks. Sequences keep theirs.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.known {
		r.lost = true
	}
	clear(c.known)
	c.idle.newer, c.idle.older = &c.idle, &c.idle
	c.idleBlocks = 0
}
