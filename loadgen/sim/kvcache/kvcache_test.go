package kvcache

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestThePrefixCacheLetsGoOfWhatWasUsedLeastRecently(t *testing.T) {
	const size = 20
	c := New(size, true)
	found := func(hash uint64) int {
		h := &Holding{Blocks: []uint64{hash}}
		n, room := c.Admit(h, BlockSize+1, 0)
		if !room {
			t.Fatal("no room")
		}
		defer c.Free(h)
		return n
	}
	prefill := func(hash uint64) {
		h := &Holding{Blocks: []uint64{hash}}
		if _, room := c.Admit(h, BlockSize, BlockSize); !room {
			t.Fatal("no room")
		}
		c.Keep(h, BlockSize)
		c.Free(h)
	}
	for hash := range uint64(size) {
		prefill(hash)
	}
	found(0)
	prefill(size) // one too many
	for hash, want := range map[uint64]int{0: BlockSize, 1: 0, 2: BlockSize, size: BlockSize} {
		if got := found(hash); got != want {
			t.Errorf("block %d: %d tokens found, want %d", hash, got, want)
		}
	}
}

func TestPrefixesLiveInTheCache(t *testing.T) {
	const tokens = 3*BlockSize + 1
	prompt := func() *Holding { return &Holding{Blocks: []uint64{1, 2, 3}} }
	c := New(6, true)
	usage := func(want int) {
		t.Helper()
		if c.used != want {
			t.Errorf("%d blocks in use, want %d", c.used, want)
		}
	}
	one, two := prompt(), prompt()
	if _, room := c.Admit(one, tokens, 100); !room {
		t.Fatal("no room")
	}
	c.Keep(one, tokens)
	usage(4)
	if found, room := c.Admit(two, tokens, 100); !room || found != tokens-1 {
		t.Fatalf("%d tokens found, want all but 1", found)
	}
	usage(5) // three are shared
	c.Free(one)
	usage(4)
	c.Forget()
	usage(4) // the second still has its blocks
	c.Free(two)
	usage(0)
	three := prompt()
	if found, room := c.Admit(three, tokens, 100); !room || found != 0 {
		t.Errorf("%d tokens found after a reset, want none", found)
	} else {
		c.Keep(three, tokens)
		c.Free(three)
	}
	big := &Holding{}
	if _, room := c.Admit(big, 5*BlockSize, 100); !room {
		t.Fatal("idle prefixes took room from a prompt")
	}
	usage(5)
	if _, room := c.Admit(prompt(), tokens, 100); room {
		t.Error("admitted where there is no room")
	}
	usage(5)
	c.Free(big)
	if found, room := c.Admit(prompt(), tokens, 100); !room || found != BlockSize {
		t.Errorf("%d tokens found, want the one block that was left, the first", found)
	}
}

// A blockCache is a Cache block by block: the blocks that no sequence uses, last used first, and
// how many sequences use each of the others.
type blockCache struct {
	size, own int
	idle      []uint64
	users     map[uint64]int
}

func (c *blockCache) used() int { return len(c.users) + c.own }

// use lets a sequence use its next known block, if it is known.
func (c *blockCache) use(hash uint64) bool {
	i := slices.Index(c.idle, hash)
	if i < 0 && c.users[hash] == 0 {
		return false
	}
	if i >= 0 {
		c.idle = slices.Delete(c.idle, i, i+1)
	}
	c.users[hash]++
	return true
}

// extend gives n private blocks, if there is room.
func (c *blockCache) extend(n int) bool {
	if n > 0 && c.used()+n > c.size {
		return false
	}
	c.own += max(n, 0)
	c.makeRoom()
	return true
}

func (c *blockCache) makeRoom() { c.idle = c.idle[:min(len(c.idle), c.size-c.used())] }

func (c *blockCache) release(hashes []uint64, own int) {
	c.own -= own
	for _, hash := range slices.Backward(hashes) {
		if c.users[hash]--; c.users[hash] == 0 {
			delete(c.users, hash)
			c.idle = slices.Insert(c.idle, 0, hash)
		}
	}
	c.makeRoom()
}

func TestRunsOfBlocksAreTheirBlocks(t *testing.T) {
	const size = 30
	random := rand.New(rand.NewPCG(5, 5))
	c, model := New(size, true), &blockCache{size: size, users: map[uint64]int{}}
	type part struct {
		Holding
		prompt, out, unfilled int
		modelled              struct{ known, own int }
	}
	filled := func(p *part) int { return p.prompt + p.out - p.unfilled }
	var live []*part
	free := func(i int) {
		p := live[i]
		c.Free(&p.Holding)
		model.release(p.Blocks[:p.modelled.known], p.modelled.own)
		live = slices.Delete(live, i, i+1)
	}
	found, forgot := 0, 0
	for step := range 20000 {
		switch what := random.IntN(10); {
		case what < 3 && len(live) < 6: // a new sequence
			p := &part{prompt: 1 + random.IntN(10*BlockSize)}
			p.unfilled = p.prompt
			h := Chain(0)
			for range 20 {
				h = h.Add(random.Uint64N(6) / 5)
				p.Blocks = append(p.Blocks, uint64(h))
			}
			m := &p.modelled
			for most := (p.prompt - 1) / BlockSize; m.known < most && model.use(p.Blocks[m.known]); {
				m.known++
			}
			chunk := 1 + random.IntN(100)
			tokens := min(p.prompt, m.known*BlockSize+chunk)
			more := max(0, (tokens+BlockSize-1)/BlockSize-m.known)
			want := model.extend(more)
			if !want {
				model.release(p.Blocks[:m.known], 0)
			} else {
				m.own = more
			}
			n, got := c.Admit(&p.Holding, p.unfilled, chunk)
			if got != want || got && n != m.known*BlockSize {
				t.Fatalf("step %d: admitted %v with %d tokens found, want %v with %d blocks", step, got, n, want, m.known)
			}
			p.unfilled -= n
			if want {
				found += m.known
				live = append(live, p)
			}
		case what == 3 && random.IntN(300) == 0:
			c.Forget()
			forgot++
			for len(live) > 0 { // their blocks are forgotten, too
				p := live[0]
				c.Free(&p.Holding)
				live = live[1:]
			}
			*model = blockCache{size: size, users: map[uint64]int{}}
		case len(live) == 0:
		case what < 5:
			free(random.IntN(len(live)))
		default: // computes more of a sequence
			i := random.IntN(len(live))
			p := live[i]
			n := 1 + random.IntN(50)
			if p.unfilled > 0 {
				n = min(n, p.unfilled)
			}
			tokens := filled(p) + n
			if p.unfilled == 0 {
				tokens = filled(p) + n - 1
			}
			want := model.extend(max(0, (tokens+BlockSize-1)/BlockSize-p.modelled.known-p.modelled.own))
			if got := c.Grow(&p.Holding, tokens); got != want {
				t.Fatalf("step %d: grew %v, want %v", step, got, want)
			}
			if !want {
				free(i)
				break
			}
			p.modelled.own = max(p.modelled.own, (tokens+BlockSize-1)/BlockSize-p.modelled.known)
			if p.unfilled > 0 {
				if p.unfilled -= n; p.unfilled == 0 {
					p.out++
				}
			} else {
				p.out += n
			}
			computed := filled(p)
			if p.unfilled == 0 {
				computed--
			}
			c.Keep(&p.Holding, computed)
			for whole := min(computed/BlockSize, len(p.Blocks)); p.modelled.known < whole; p.modelled.known++ {
				p.modelled.own--
				model.own--
				if hash := p.Blocks[p.modelled.known]; !model.use(hash) {
					model.users[hash] = 1
				}
			}
		}
		var idle []uint64
		for r := c.idle.older; r != &c.idle; r = r.older {
			idle = append(idle, r.hashes...)
		}
		if !slices.Equal(idle, model.idle) || c.idleBlocks != len(idle) || c.used != model.used() {
			t.Fatalf("step %d: %d blocks used and %v idle (%d), want %d and %v", step, c.used, idle, c.idleBlocks, model.used(), model.idle)
		}
	}
	if found < 1000 || forgot == 0 {
		t.Errorf("%d blocks found, forgotten %d times: a test of nothing", found, forgot)
	}
	for len(live) > 0 {
		free(0)
	}
	if c.used != 0 {
		t.Errorf("%d blocks in use in the end", c.used)
	}
}
