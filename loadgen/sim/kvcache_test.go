package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAKnownPrefixIsNotPrefilledAgain(t *testing.T) {
	const labels = `{engine="0",model_name="stub-32000"}`
	bubble(t, Config{Cost: testCost, PrefixCaching: true}, func(h *harness) {
		queries, hits := 0, 0
		for _, test := range []struct {
			name          string
			prompt, found int
		}{
			{"cold", 100, 0},
			{"the same", 100, 96},
			{"a longer one", 200, 96},
			{"one whose last block is whole: a token is left to prefill", 96, 80},
			{"one that is shorter than a block", 15, 0},
		} {
			start := time.Now()
			got := tokenTimes(start, h.stream("/v1/completions", test.name, completion(test.prompt, 1)))
			if want := testCost.step(0, test.prompt-test.found); len(got) != 1 || got[0] != want {
				t.Errorf("%s: first token at %v, want %v", test.name, got, want)
			}
			queries, hits = queries+test.prompt, hits+test.found
			if q, f := h.value("vllm:prefix_cache_queries_total"+labels), h.value("vllm:prefix_cache_hits_total"+labels); int(q) != queries || int(f) != hits {
				t.Errorf("%s: %v tokens looked up and %v found so far, want %d and %d", test.name, q, f, queries, hits)
			}
			time.Sleep(time.Second)
		}
		if status, body := h.send("/reset_prefix_cache", ""); status != 200 {
			t.Errorf("reset: %d %s", status, body)
		}
		start := time.Now()
		if got := tokenTimes(start, h.stream("/v1/completions", "after a reset", completion(100, 1))); got[0] != testCost.step(0, 100) {
			t.Errorf("after a reset the first token came at %v, want %v", got[0], testCost.step(0, 100))
		}
	})
}

func TestThePrefixCacheLetsGoOfWhatWasUsedLeastRecently(t *testing.T) {
	const size = 20
	c := newKVCache(size, true)
	found := func(hash uint64) int {
		seq := &sequence{prompt: blockSize + 1, unfilled: blockSize + 1, blocks: []uint64{hash}}
		if !c.admit(seq, 0) {
			t.Fatal("no room")
		}
		defer c.free(seq)
		return seq.prompt - seq.unfilled
	}
	prefill := func(hash uint64) {
		seq := &sequence{prompt: blockSize, unfilled: blockSize, blocks: []uint64{hash}}
		if !c.admit(seq, blockSize) {
			t.Fatal("no room")
		}
		seq.unfilled, seq.out = 0, 1
		c.keep(seq)
		c.free(seq)
	}
	for hash := range uint64(size) {
		prefill(hash)
	}
	found(0)
	prefill(size) // one too many
	for hash, want := range map[uint64]int{0: blockSize, 1: 0, 2: blockSize, size: blockSize} {
		if got := found(hash); got != want {
			t.Errorf("block %d: %d tokens found, want %d", hash, got, want)
		}
	}
}

func TestFullCachePreemptsTheYoungest(t *testing.T) {
	const labels = `{engine="0",model_name="stub-32000"}`
	bubble(t, Config{Cost: testCost, NumGPUBlocks: 4, MaxModelLen: 64, MaxNumSeqs: 2}, func(h *harness) {
		// Two blocks each last until 32 tokens. Then the second loses its, with 17
		// tokens out, and begins again once the first is done; the third waits behind it.
		start := time.Now()
		times := h.together(map[string]string{"a-1": completion(16, 40), "a-2": completion(16, 40), "a-3": completion(16, 1)})
		var first, second []time.Duration
		at := testCost.step(0, 32)
		for out := 1; out <= 40; out++ {
			if first = append(first, at); out <= 17 {
				second = append(second, at)
			}
			if out < 17 {
				at += testCost.step(2, 0)
			} else {
				at += testCost.step(1, 0)
			}
		}
		at += testCost.step(0, 33+16) - testCost.step(1, 0)
		third := []time.Duration{at}
		for out := 18; out <= 40; out++ {
			second = append(second, at)
			at += testCost.step(1, 0)
		}
		for id, want := range map[string][]time.Duration{"a-1": first, "a-2": second, "a-3": third} {
			if !slices.Equal(times[id], want) {
				t.Errorf("%s: %v, want %v", id, times[id], want)
			}
		}
		if got := h.trace("a-2").Admitted.Sub(start); got != gather {
			t.Errorf("the preempted request was admitted after %v, want its first admission", got)
		}
		for name, want := range map[string]float64{
			"num_preemptions_total": 1, "kv_cache_usage_perc": 0, "num_requests_running": 0, "num_requests_waiting": 0,
			"prompt_tokens_total": 48, "generation_tokens_total": 81,
		} {
			if got := h.value("vllm:" + name + labels); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	})
}

func TestCacheInUseIsShownAndGivenBack(t *testing.T) {
	const usage = `vllm:kv_cache_usage_perc{engine="0",model_name="stub-32000"}`
	bubble(t, Config{Cost: testCost, NumGPUBlocks: 100, MaxModelLen: 1600}, func(h *harness) {
		ctx, cancel := context.WithCancel(h.t.Context())
		resp, err := h.client.Do(h.request(ctx, "/v1/completions", "gone", completion(160, 1000)))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(testCost.step(0, 160) + testCost.step(1, 0)/2)
		if got := h.value(usage); got != .11 { // 160 tokens, and one that is being decoded
			t.Errorf("%v of the cache in use, want .11", got)
		}
		cancel()
		resp.Body.Close()
		time.Sleep(3 * testCost.step(1, 0))
		if got := h.value(usage); got != 0 {
			t.Errorf("%v of the cache in use after the client has gone", got)
		}
	})
}

func TestPrefixesLiveInTheCache(t *testing.T) {
	prompt := func() *sequence {
		const tokens = 3*blockSize + 1
		return &sequence{prompt: tokens, unfilled: tokens, blocks: []uint64{1, 2, 3}}
	}
	c := newKVCache(6, true)
	usage := func(want int) {
		t.Helper()
		if c.used != want {
			t.Errorf("%d blocks in use, want %d", c.used, want)
		}
	}
	one, two := prompt(), prompt()
	if !c.admit(one, 100) {
		t.Fatal("no room")
	}
	one.unfilled, one.out = 0, 1
	c.keep(one)
	usage(4)
	if !c.admit(two, 100) || two.unfilled != 1 {
		t.Fatalf("%d tokens to prefill, want 1", two.unfilled)
	}
	usage(5) // three are shared
	c.free(one)
	usage(4)
	c.forget()
	usage(4) // the second still has its blocks
	c.free(two)
	usage(0)
	if three := prompt(); !c.admit(three, 100) || three.unfilled != three.prompt {
		t.Errorf("%d tokens to prefill after a reset, want all", three.unfilled)
	} else {
		three.unfilled, three.out = 0, 1
		c.keep(three)
		c.free(three)
	}
	big := &sequence{prompt: 5 * blockSize, unfilled: 5 * blockSize}
	if !c.admit(big, 100) {
		t.Fatal("idle prefixes took room from a prompt")
	}
	usage(5)
	if again := prompt(); c.admit(again, 100) {
		t.Error("admitted where there is no room")
	}
	usage(5)
	c.free(big)
	if again := prompt(); !c.admit(again, 100) || again.unfilled != again.prompt-blockSize {
		t.Errorf("%d tokens to prefill, want all but the one block that was left, the first", again.unfilled)
	}
}

func TestCacheHoldsTheLongestRequest(t *testing.T) {
	if _, err := New(Config{Tokenizer: stub, NumGPUBlocks: 4, MaxModelLen: 65}); err == nil || !strings.Contains(err.Error(), "max-model-len (65)") {
		t.Errorf("%v, want an error", err)
	}
}

// Whatever is asked of a cache that is far too small, all requests come to their
// end and all blocks come back.
func TestPreemptionLosesNothing(t *testing.T) {
	for _, profile := range []*Profile{{}, {PrefillFirst: true}} {
		for _, caching := range []bool{false, true} {
			profile.Step.Cost = testCost
			cfg := Config{Profile: profile, NumGPUBlocks: 12, MaxModelLen: 190, MaxNumSeqs: 8, MaxNumBatchedTokens: 40, PrefixCaching: caching,
				Speculative: Speculative{Tokens: 2, Acceptance: .5}}
			bubble(t, cfg, func(h *harness) {
				bodies := map[string]string{}
				for i := range 30 {
					bodies[fmt.Sprintf("a-%d", i)] = completion(1+i*37%100, 1+i*53%90)
				}
				h.together(bodies)
				for i := range 30 {
					if tr := h.trace(fmt.Sprintf("a-%d", i)); len(tr.Tokens) != 1+i*53%90 {
						t.Errorf("%s has %d tokens, want %d", tr.ID, len(tr.Tokens), 1+i*53%90)
					}
				}
				if h.engine.kv.used != 0 || h.engine.stats.preemptions == 0 {
					t.Errorf("%d blocks in use, %d preemptions", h.engine.kv.used, h.engine.stats.preemptions)
				}
			})
		}
	}
}

// A blockCache is a kvCache block by block: the blocks that no sequence uses, last used first, and
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
	c, model := newKVCache(size, true), &blockCache{size: size, users: map[uint64]int{}}
	type part struct {
		*sequence
		known, own int // of the model
	}
	var live []*part
	free := func(i int) {
		p := live[i]
		c.free(p.sequence)
		model.release(p.blocks[:p.known], p.own)
		live = slices.Delete(live, i, i+1)
	}
	found, forgot := 0, 0
	for step := range 20000 {
		switch what := random.IntN(10); {
		case what < 3 && len(live) < 6: // a new sequence
			seq := &sequence{prompt: 1 + random.IntN(10*blockSize), want: 1000}
			seq.unfilled = seq.prompt
			h := chain(0)
			for range 20 {
				h = h.add(random.Uint64N(6) / 5)
				seq.blocks = append(seq.blocks, uint64(h))
			}
			p := &part{sequence: seq}
			for most := (seq.prompt - 1) / blockSize; p.known < most && model.use(seq.blocks[p.known]); {
				p.known++
			}
			chunk := 1 + random.IntN(100)
			tokens := min(seq.prompt, p.known*blockSize+chunk)
			more := max(0, (tokens+blockSize-1)/blockSize-p.known)
			want := model.extend(more)
			if !want {
				model.release(seq.blocks[:p.known], 0)
			} else {
				p.own = more
			}
			if got := c.admit(seq, chunk); got != want || got && seq.found != p.known*blockSize {
				t.Fatalf("step %d: admitted %v with %d tokens found, want %v with %d blocks", step, got, seq.found, want, p.known)
			}
			if want {
				found += p.known
				seq.admitted = time.Unix(0, 0)
				live = append(live, p)
			}
		case what == 3 && random.IntN(300) == 0:
			c.forget()
			forgot++
			for len(live) > 0 { // their blocks are forgotten, too
				p := live[0]
				c.free(p.sequence)
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
			tokens := p.filled() + n
			if p.unfilled == 0 {
				tokens = p.filled() + n - 1
			}
			want := model.extend(max(0, (tokens+blockSize-1)/blockSize-p.known-p.own))
			if got := c.grow(p.sequence, tokens); got != want {
				t.Fatalf("step %d: grew %v, want %v", step, got, want)
			}
			if !want {
				free(i)
				break
			}
			p.own = max(p.own, (tokens+blockSize-1)/blockSize-p.known)
			if p.unfilled > 0 {
				if p.unfilled -= n; p.unfilled == 0 {
					p.out++
				}
			} else {
				p.out += n
			}
			c.keep(p.sequence)
			for whole := min(p.computed()/blockSize, len(p.blocks)); p.known < whole; p.known++ {
				p.own--
				model.own--
				if hash := p.blocks[p.known]; !model.use(hash) {
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
