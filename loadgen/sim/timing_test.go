package sim

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

var testCost = speed.Cost{Base: 10 * time.Millisecond, PerSequence: 3 * time.Microsecond, PerPromptToken: 7 * time.Microsecond}

// stepOf is the time of a step in which that many requests decode and that many prompt
// tokens are prefilled, before jitter.
func stepOf(c speed.Cost, decoding, prompt int) time.Duration {
	return c.Base + time.Duration(decoding)*c.PerSequence + time.Duration(prompt)*c.PerPromptToken
}

// span is n successive steps.
func span(n int, step time.Duration) time.Duration { return time.Duration(n) * step }

// together starts requests at one instant and returns when their tokens came.
func (h *harness) together(bodies map[string]string) map[string][]time.Duration {
	start := time.Now()
	times := make(map[string][]time.Duration)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for id, body := range bodies {
		wg.Go(func() {
			got := tokenTimes(start, h.stream("/v1/completions", id, body))
			mu.Lock()
			defer mu.Unlock()
			times[id] = got
		})
	}
	wg.Wait()
	return times
}

func TestOneRequestTakesPrefillThenDecodeSteps(t *testing.T) {
	bubble(t, Config{Cost: testCost}, func(h *harness) {
		for _, id := range []string{"cold", "warm"} {
			start := time.Now()
			got := tokenTimes(start, h.stream("/v1/completions", id, completion(100, 4)))
			first := stepOf(testCost, 0, 100)
			var want []time.Duration
			for i := range 4 {
				want = append(want, first+span(i, stepOf(testCost, 1, 0)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: tokens at %v, want %v", id, got, want)
			}
			tr := h.trace(id)
			for i, at := range tr.Tokens {
				if at.Sub(start) != want[i] {
					t.Errorf("%s: trace says token %d at %v, want %v", id, i, at.Sub(start), want[i])
				}
			}
			if !tr.Arrived.Equal(start) || tr.Finish != steps.Length || tr.PromptTokens != 100 || len(tr.Tokens) != 4 {
				t.Errorf("%s: trace %+v", id, tr)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestChatCostsTheTemplate(t *testing.T) {
	bubble(t, Config{Cost: testCost}, func(h *harness) {
		start := time.Now()
		events := h.stream("/v1/chat/completions", "", `{"messages":[{"role":"user","content":[{"type":"text","text":"tok1 tok2"}]}],"max_completion_tokens":1,"ignore_eos":true,"stream":true}`)
		if got, want := events[0].at.Sub(start), stepOf(testCost, 0, 2+chatTemplateTokens); got != want {
			t.Errorf("role chunk after %v, want %v", got, want)
		}
	})
}

func TestBatchSharesSteps(t *testing.T) {
	bubble(t, Config{Cost: testCost}, func(h *harness) {
		times := h.together(map[string]string{"a-1": completion(10, 3), "a-2": completion(20, 3), "a-3": completion(30, 2)})
		first := stepOf(testCost, 0, 60)
		second := first + stepOf(testCost, 3, 0)
		third := second + stepOf(testCost, 2, 0)
		for id, want := range map[string][]time.Duration{
			"a-1": {first, second, third}, "a-2": {first, second, third}, "a-3": {first, second},
		} {
			if !slices.Equal(times[id], want) {
				t.Errorf("%s: %v, want %v", id, times[id], want)
			}
		}
	})
}

func TestRequestsQueueBeyondMaxNumSeqs(t *testing.T) {
	bubble(t, Config{Cost: testCost, Limits: Limits{NumSeqs: 1}}, func(h *harness) {
		times := h.together(map[string]string{"a-9": completion(10, 3), "a-10": completion(20, 2)})
		free := stepOf(testCost, 0, 10) + span(2, stepOf(testCost, 1, 0))
		want := []time.Duration{free + stepOf(testCost, 0, 20), free + stepOf(testCost, 0, 20) + stepOf(testCost, 1, 0)}
		if !slices.Equal(times["a-10"], want) {
			t.Errorf("the second request's tokens came at %v, want %v", times["a-10"], want)
		}
		queued := h.trace("a-10").Admitted.Sub(h.trace("a-10").Arrived)
		if queued != free+speed.Gather {
			t.Errorf("queued for %v, want %v", queued, free+speed.Gather)
		}
	})
}

func TestLongPromptIsPrefilledInChunks(t *testing.T) {
	bubble(t, Config{Cost: testCost, Limits: Limits{NumSeqs: 4, NumBatchedTokens: 256}}, func(h *harness) {
		start := time.Now()
		got := tokenTimes(start, h.stream("/v1/completions", "", completion(600, 1)))
		want := 2*stepOf(testCost, 0, 256) + stepOf(testCost, 0, 88)
		if len(got) != 1 || got[0] != want {
			t.Errorf("first token after %v, want %v", got, want)
		}
	})
}

func TestDecodingComesBeforePrefill(t *testing.T) {
	bubble(t, Config{Cost: testCost, Limits: Limits{NumSeqs: 4, NumBatchedTokens: 100}}, func(h *harness) {
		times := h.together(map[string]string{"a-1": completion(50, 4), "a-2": completion(200, 1)})
		one := stepOf(testCost, 0, 100) // 50 of a-1, 50 of a-2
		two := one + stepOf(testCost, 1, 99)
		three := two + stepOf(testCost, 1, 51)
		four := three + stepOf(testCost, 1, 0)
		if want := []time.Duration{one, two, three, four}; !slices.Equal(times["a-1"], want) {
			t.Errorf("decoding request: %v, want %v", times["a-1"], want)
		}
		if want := []time.Duration{three}; !slices.Equal(times["a-2"], want) {
			t.Errorf("prefilling request: %v, want %v", times["a-2"], want)
		}
	})
}

func TestOneInstantIsOrderedByRequestNumber(t *testing.T) {
	bubble(t, Config{Cost: testCost, Limits: Limits{NumSeqs: 1}}, func(h *harness) {
		bodies := make(map[string]string)
		for i := range 20 {
			bodies[fmt.Sprintf("bench-%d", i)] = completion(5, 1)
		}
		times := h.together(bodies)
		for i := range 20 {
			want := span(i+1, stepOf(testCost, 0, 5))
			if got := times[fmt.Sprintf("bench-%d", i)]; len(got) != 1 || got[0] != want {
				t.Errorf("bench-%d served at %v, want %v", i, got, want)
			}
		}
	})
}

func TestArrivalDuringStepWaitsForTheNext(t *testing.T) {
	bubble(t, Config{Cost: testCost}, func(h *harness) {
		start := time.Now()
		go h.stream("/v1/completions", "first", completion(10, 5))
		time.Sleep(stepOf(testCost, 0, 10) + time.Millisecond)
		got := tokenTimes(start, h.stream("/v1/completions", "second", completion(20, 1)))
		want := stepOf(testCost, 0, 10) + stepOf(testCost, 1, 0) + stepOf(testCost, 1, 20)
		if len(got) != 1 || got[0] != want {
			t.Errorf("token at %v, want %v", got, want)
		}
	})
}

func TestLatenessIsMadeUpForWithinAStep(t *testing.T) {
	for _, row := range []struct{ late, want time.Duration }{
		{9 * time.Millisecond, 0},
		{15 * time.Millisecond, 0},
		{25 * time.Millisecond, 25*time.Millisecond - stepOf(testCost, 1, 0)},
	} {
		var got []time.Duration
		bubble(t, Config{Cost: testCost}, func(h *harness) {
			h.left = func(tr steps.Trace) {
				if tr.ID == "a-1" {
					time.Sleep(row.late) // the machine is busy elsewhere
				}
			}
			got = h.together(map[string]string{"a-1": completion(10, 1), "a-2": completion(10, 4)})["a-2"]
		})
		last := stepOf(testCost, 0, 20) + 3*stepOf(testCost, 1, 0) + row.want
		if len(got) != 4 || got[3] != last {
			t.Errorf("after %v of delay tokens at %v, want the last at %v", row.late, got, last)
		}
	}
}

func TestDisconnectedClientLeavesTheBatch(t *testing.T) {
	bubble(t, Config{Cost: testCost}, func(h *harness) {
		ctx, cancel := context.WithCancel(h.t.Context())
		resp, err := h.client.Do(h.request(ctx, "/v1/completions", "gone", completion(10, 1000)))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(stepOf(testCost, 0, 10) + stepOf(testCost, 1, 0) + time.Millisecond)
		cancel()
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		synctest.Wait()
		time.Sleep(2 * stepOf(testCost, 1, 0))
		tr := h.trace("gone")
		if tr.Finish != steps.Abort || len(tr.Tokens) != 3 {
			t.Errorf("finish %q after %d tokens, want abort after the step in which it left, 3", tr.Finish, len(tr.Tokens))
		}
		if got := h.value(`vllm:request_success_total{engine="0",model_name="stub-32000",finished_reason="abort"}`); got != 1 {
			t.Errorf("%v requests counted as aborted, want 1", got)
		}
		if got := h.value(`vllm:num_requests_running{engine="0",model_name="stub-32000"}`); got != 0 {
			t.Errorf("%v requests still running", got)
		}
	})
}

func TestCloseCutsWhatIsInFlight(t *testing.T) {
	bubble(t, Config{Cost: testCost, Limits: Limits{NumSeqs: 1}}, func(h *harness) {
		var wg sync.WaitGroup
		for _, id := range []string{"running-1", "waiting-2"} {
			wg.Go(func() {
				resp, err := h.client.Do(h.request(h.t.Context(), "/v1/completions", id, completion(10, 1000)))
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				if _, err := io.Copy(io.Discard, resp.Body); err != io.ErrUnexpectedEOF {
					t.Errorf("%s ended with %v, want an unexpected end", id, err)
				}
			})
		}
		time.Sleep(time.Second)
		h.Close()
		h.Close()
		wg.Wait()
		for _, id := range []string{"running-1", "waiting-2"} {
			if got := h.trace(id).Finish; got != steps.Abort {
				t.Errorf("%s finished with %q, want abort", id, got)
			}
		}
		if status, _ := h.send("/v1/completions", completion(1, 1)); status != 503 {
			t.Errorf("status %d after closing, want 503", status)
		}
	})
}

func TestJitterIsSeeded(t *testing.T) {
	run := func(jitter float64, seed uint64) (got []time.Duration) {
		bubble(t, Config{Cost: testCost, Jitter: jitter, Seed: seed}, func(h *harness) {
			got = tokenTimes(time.Now(), h.stream("/v1/completions", "", completion(100, 5)))
		})
		return got
	}
	if a, b := run(.1, 1), run(.1, 1); !slices.Equal(a, b) {
		t.Errorf("the same seed gave %v and %v", a, b)
	}
	if a, b := run(.1, 1), run(.1, 2); slices.Equal(a, b) {
		t.Errorf("two seeds gave the same %v", a)
	}
	if a, b := run(.1, 1), run(0, 1); slices.Equal(a, b) {
		t.Errorf("jitter changed nothing: %v", a)
	}
}

func TestSpeculationGivesSeveralTokensAStep(t *testing.T) {
	bubble(t, Config{Cost: testCost, Speculative: steps.Speculative{Tokens: 3, Acceptance: 1}}, func(h *harness) {
		start := time.Now()
		got := tokenTimes(start, h.stream("/v1/completions", "x", completion(10, 10)))
		first := stepOf(testCost, 0, 10)
		want := []time.Duration{first, first + stepOf(testCost, 1, 0), first + 2*stepOf(testCost, 1, 0), first + 3*stepOf(testCost, 1, 0)}
		if !slices.Equal(got, want) {
			t.Errorf("chunks at %v, want %v: 1, 4, 4 and 1 tokens", got, want)
		}
		if n := len(h.trace("x").Tokens); n != 10 {
			t.Errorf("%d tokens, want 10", n)
		}
	})
}
