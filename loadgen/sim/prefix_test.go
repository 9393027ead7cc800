package sim

import (
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
			if want := testCost.Step(0, test.prompt-test.found); len(got) != 1 || got[0] != want {
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
		if got := tokenTimes(start, h.stream("/v1/completions", "after a reset", completion(100, 1))); got[0] != testCost.Step(0, 100) {
			t.Errorf("after a reset the first token came at %v, want %v", got[0], testCost.Step(0, 100))
		}
	})
}

func TestThePrefixCacheLetsGoOfWhatWasUsedLeastRecently(t *testing.T) {
	c := newPrefixCache()
	for hash := range uint64(maxBlocks) {
		c.keep([]uint64{hash})
	}
	c.lookUp([]uint64{0}, blockSize+1)
	c.keep([]uint64{maxBlocks}) // one too many
	for hash, want := range map[uint64]int{0: blockSize, 1: 0, 2: blockSize, maxBlocks: blockSize} {
		if got := c.lookUp([]uint64{hash}, blockSize+1); got != want {
			t.Errorf("block %d: %d tokens found, want %d", hash, got, want)
		}
	}
}
