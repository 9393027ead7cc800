package sim

import (
	"net/http"
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/sim/elastic"
)

const (
	// blockSize is the number of tokens in a block of the KV cache, as in vLLM.
	blockSize = 16
	// unboundedBlocks is how many blocks of prefixes a cache without a size keeps: four million
	// tokens.
	unboundedBlocks = 1 << 18
)

// A kvCache hands out blocks to sequences. It remembers computed blocks of prompts and outputs by
// their tokens, so prompts with the same beginning share them. When no sequence uses them any more,
// they stay until their room is needed; the least recently used go first, the end of a text before
// its beginning. It is safe for concurrent use.
//
// The blocks that it remembers are a tree of runs, so that a long text costs no more than the texts
// that branch off it.
type kvCache struct {
	size      int           // blocks; 0 for no limit
	remembers bool          // share prefixes
	pool      *elastic.Pool // has the memory of used blocks; nil if all of it is there from the start

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
	owner    *sequence // may add to it if nobody else uses it; nil while idle
	users    int
	lost     bool // the cache has been told to forget it

	newer, older *blockRun // in the ring of idle runs; nil while used
}

// A holding is a sequence's part of the cache.
type holding struct {
	end   *blockRun // the last of its known runs
	known int       // blocks in its known runs
	own   int       // other blocks
}

func newKVCache(size int, remembers bool) *kvCache {
	c := &kvCache{size: size, remembers: remembers, known: map[uint64]*blockRun{}}
	c.idle.newer, c.idle.older = &c.idle, &c.idle
	return c
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
// token needs it. It reports whether there was room.
func (c *kvCache) admit(seq *sequence, chunk int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for most := min(len(seq.blocks), (seq.unfilled-1)/blockSize); seq.kv.known < most; {
		if !c.follow(seq, most) {
			break
		}
	}
	found := seq.kv.known * blockSize
	if !c.extend(seq, found+min(chunk, seq.unfilled-found)) {
		c.release(seq)
		return false
	}
	seq.unfilled -= found
	if c.remembers && seq.admitted.IsZero() {
		seq.found = found
		c.queries += seq.prompt
		c.hits += found
	}
	return true
}

// follow lets a sequence use the known run that goes on where its known blocks end, as far as it has
// the sequence's blocks up to number most. It reports whether there is one.
func (c *kvCache) follow(seq *sequence, most int) bool {
	r := c.known[seq.blocks[seq.kv.known]]
	if r == nil {
		return false
	}
	blocks := seq.blocks[seq.kv.known:most]
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
	seq.kv.end = r
	seq.kv.known += same
	return true
}

// split makes the first n blocks of a run a run, and returns it. The old run is the rest, so that
// those who use it use both.
func (c *kvCache) split(r *blockRun, n int) *blockRun {
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
func (c *kvCache) take(r *blockRun) {
	if r.newer == nil {
		return
	}
	r.newer.older, r.older.newer = r.older, r.newer
	r.newer, r.older = nil, nil
	c.idleBlocks -= len(r.hashes)
}

// grow gives a sequence blocks for that many tokens in all, and reports whether
// there was room.
func (c *kvCache) grow(seq *sequence, tokens int) bool {
	if tokens <= blockSize*(seq.kv.known+seq.kv.own) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.extend(seq, tokens)
}

func (c *kvCache) extend(seq *sequence, tokens int) bool {
	more := (tokens+blockSize-1)/blockSize - seq.kv.known - seq.kv.own
	if more <= 0 {
		return true
	}
	if c.size > 0 && c.used+more > c.size || !c.resize(c.used+more) {
		return false
	}
	c.used += more
	seq.kv.own += more
	c.makeRoom()
	return true
}

// resize gets memory for that many used blocks, or returns it. It reports whether there was any.
func (c *kvCache) resize(blocks int) bool {
	if c.pool == nil {
		return true
	}
	took, ok := c.pool.Use(blocks)
	c.mapping += took
	return ok
}

// mapped is how long the pages took that were mapped since the last call.
func (c *kvCache) mapped() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := c.mapping
	c.mapping = 0
	return took
}

// makeRoom forgets idle blocks whose room is needed.
func (c *kvCache) makeRoom() {
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

// keep remembers the blocks of a sequence that have been computed. If another sequence has made them
// known by then, it shares them.
func (c *kvCache) keep(seq *sequence) {
	whole := min(seq.computed()/blockSize, len(seq.blocks))
	if !c.remembers || whole <= seq.kv.known {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if end := seq.kv.end; end != nil && end.lost {
		return
	}
	first := seq.kv.known
	for seq.kv.known < whole && c.follow(seq, whole) {
	}
	c.used -= seq.kv.known - first // it gives its copies back
	if end := seq.kv.end; end != nil && end.owner == seq && end.users == 1 && end.branches == 0 {
		end.hashes = seq.blocks[end.at:whole:whole]
	} else if seq.kv.known < whole {
		r := &blockRun{hashes: seq.blocks[seq.kv.known:whole:whole], at: seq.kv.known, before: end, owner: seq, users: 1}
		c.known[r.hashes[0]] = r
		if end != nil {
			end.branches++
		}
		seq.kv.end = r
	}
	seq.kv.known = whole
	seq.kv.own -= whole - first
}

// free releases all blocks of a sequence.
func (c *kvCache) free(seq *sequence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(seq)
}

func (c *kvCache) release(seq *sequence) {
	c.used -= seq.kv.own
	for r := seq.kv.end; r != nil; r = r.before { // so that ends of texts are dropped before beginnings
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
	seq.kv = holding{}
	c.resize(c.used)
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
	for _, r := range c.known {
		r.lost = true
	}
	clear(c.known)
	c.idle.newer, c.idle.older = &c.idle, &c.idle
	c.idleBlocks = 0
}

// resetPrefixCache answers POST /reset_prefix_cache.
func (s *Server) resetPrefixCache(http.ResponseWriter, *http.Request) { s.engine.kv.forget() }
