package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

func TestAKnownPrefixIsNotPrefilledAgain(t *testing.T) {
	const labels = `{engine="0",model_name="stub-32000"}`
	bubble(t, Config{Cost: testCost, Cache: Cache{Prefixes: true}}, func(h *harness) {
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
			if want := stepOf(testCost, 0, test.prompt-test.found); len(got) != 1 || got[0] != want {
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
		if got := tokenTimes(start, h.stream("/v1/completions", "after a reset", completion(100, 1))); got[0] != stepOf(testCost, 0, 100) {
			t.Errorf("after a reset the first token came at %v, want %v", got[0], stepOf(testCost, 0, 100))
		}
	})
}

func TestFullCachePreemptsTheYoungest(t *testing.T) {
	const labels = `{engine="0",model_name="stub-32000"}`
	bubble(t, Config{Cost: testCost, Cache: Cache{Blocks: 4}, Limits: Limits{ModelLen: 64, NumSeqs: 2}}, func(h *harness) {
		// Two blocks each last until 32 tokens. Then the second loses its, with 17
		// tokens out, and begins again once the first is done; the third waits behind it.
		start := time.Now()
		times := h.together(map[string]string{"a-1": completion(16, 40), "a-2": completion(16, 40), "a-3": completion(16, 1)})
		var first, second []time.Duration
		at := stepOf(testCost, 0, 32)
		for out := 1; out <= 40; out++ {
			if first = append(first, at); out <= 17 {
				second = append(second, at)
			}
			if out < 17 {
				at += stepOf(testCost, 2, 0)
			} else {
				at += stepOf(testCost, 1, 0)
			}
		}
		at += stepOf(testCost, 0, 33+16) - stepOf(testCost, 1, 0)
		third := []time.Duration{at}
		for out := 18; out <= 40; out++ {
			second = append(second, at)
			at += stepOf(testCost, 1, 0)
		}
		for id, want := range map[string][]time.Duration{"a-1": first, "a-2": second, "a-3": third} {
			if !slices.Equal(times[id], want) {
				t.Errorf("%s: %v, want %v", id, times[id], want)
			}
		}
		if got := h.trace("a-2").Admitted.Sub(start); got != speed.Gather {
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
	bubble(t, Config{Cost: testCost, Cache: Cache{Blocks: 100}, Limits: Limits{ModelLen: 1600}}, func(h *harness) {
		ctx, cancel := context.WithCancel(h.t.Context())
		resp, err := h.client.Do(h.request(ctx, "/v1/completions", "gone", completion(160, 1000)))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(stepOf(testCost, 0, 160) + stepOf(testCost, 1, 0)/2)
		if got := h.value(usage); got != .11 { // 160 tokens, and one that is being decoded
			t.Errorf("%v of the cache in use, want .11", got)
		}
		cancel()
		resp.Body.Close()
		time.Sleep(3 * stepOf(testCost, 1, 0))
		if got := h.value(usage); got != 0 {
			t.Errorf("%v of the cache in use after the client has gone", got)
		}
	})
}

func TestCacheHoldsTheLongestRequest(t *testing.T) {
	if _, err := New(Config{Tokenizer: stub, Cache: Cache{Blocks: 4}, Limits: Limits{ModelLen: 65}}); err == nil || !strings.Contains(err.Error(), "max-model-len (65)") {
		t.Errorf("%v, want an error", err)
	}
}

// Whatever is asked of a cache that is far too small, all requests come to their
// end and all blocks come back.
func TestPreemptionLosesNothing(t *testing.T) {
	for _, profile := range []*speed.Profile{{}, {PrefillFirst: true}} {
		for _, caching := range []bool{false, true} {
			profile.Step.Cost = testCost
			cfg := Config{Profile: profile, Speculative: steps.Speculative{Tokens: 2, Acceptance: .5}, Cache: Cache{Blocks: 12, Prefixes: caching}, Limits: Limits{ModelLen: 190, NumSeqs: 8, NumBatchedTokens: 40}}
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
				used, preempted := h.value(`vllm:kv_cache_usage_perc{engine="0",model_name="stub-32000"}`), h.engine.Preemptions()
				if used != 0 || preempted == 0 {
					t.Errorf("%g of the blocks in use, %d preemptions", used, preempted)
				}
			})
		}
	}
}
