package sim

import (
	"container/list"
	"encoding/binary"
	"hash/fnv"
	"net/http"
	"sync"
)

const (
	// blockSize is the tokens in a block of the prefix cache, as in vLLM.
	blockSize = 16
	// maxBlocks is how many blocks the cache holds: four million tokens.
	maxBlocks = 1 << 18
)

// A prefixCache remembers the prompts that have been prefilled, block by block,
// and lets go of the blocks used least recently. It is safe for concurrent use.
type prefixCache struct {
	mu            sync.Mutex
	blocks        map[uint64]*list.Element // by the hash of all tokens up to the block's end
	recent        list.List                // hashes, used last first
	queries, hits int                      // tokens looked up, and found
}

func newPrefixCache() *prefixCache { return &prefixCache{blocks: map[uint64]*list.Element{}} }

// blockHashes names the whole blocks of a prompt. A block's hash covers what is
// before it, so that equal hashes mean equal prefixes.
func blockHashes(prompt []int) []uint64 {
	h := fnv.New64a()
	var hashes []uint64
	for n, id := range prompt {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(id)))
		if (n+1)%blockSize == 0 {
			hashes = append(hashes, h.Sum64())
		}
	}
	return hashes
}

// lookUp gives how many tokens of a prompt need not be prefilled. One always
// is, since the first output token comes of it.
func (c *prefixCache) lookUp(hashes []uint64, prompt int) (found int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, hash := range hashes {
		block := c.blocks[hash]
		if block == nil || found+blockSize >= prompt {
			break
		}
		c.recent.MoveToFront(block)
		found += blockSize
	}
	c.queries += prompt
	c.hits += found
	return found
}

// keep remembers the blocks of a prompt that has been prefilled.
func (c *prefixCache) keep(hashes []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, hash := range hashes {
		if block := c.blocks[hash]; block != nil {
			c.recent.MoveToFront(block)
			continue
		}
		c.blocks[hash] = c.recent.PushFront(hash)
		if len(c.blocks) > maxBlocks {
			delete(c.blocks, c.recent.Remove(c.recent.Back()).(uint64))
		}
	}
}

func (c *prefixCache) counts() (queries, hits int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queries, c.hits
}

func (c *prefixCache) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.blocks)
	c.recent.Init()
}

// resetPrefixCache answers POST /reset_prefix_cache.
func (s *Server) resetPrefixCache(http.ResponseWriter, *http.Request) {
	if s.engine.prefixes != nil {
		s.engine.prefixes.reset()
	}
}
