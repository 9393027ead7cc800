package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

func TestPrefillFirstHasStepsOfItsOwn(t *testing.T) {
	bubble(t, Config{Profile: &speed.Profile{PrefillFirst: true, Step: speed.StepTime{Cost: testCost}}, Limits: Limits{NumSeqs: 4, NumBatchedTokens: 100}}, func(h *harness) {
		times := h.together(map[string]string{"a-1": completion(50, 3), "a-2": completion(200, 2)})
		one, three := stepOf(testCost, 0, 100), 2*stepOf(testCost, 0, 100)+stepOf(testCost, 0, 50)
		both := three + stepOf(testCost, 2, 0)
		if want := []time.Duration{one, both, both + stepOf(testCost, 1, 0)}; !slices.Equal(times["a-1"], want) {
			t.Errorf("the first request: %v, want %v", times["a-1"], want)
		}
		if want := []time.Duration{three, both}; !slices.Equal(times["a-2"], want) {
			t.Errorf("the second request: %v, want %v", times["a-2"], want)
		}
	})
}

func TestFrontEndDelaysARequest(t *testing.T) {
	const delay = 30 * time.Millisecond
	bubble(t, Config{Profile: &speed.Profile{FrontEnd: delay, Step: speed.StepTime{Cost: testCost}}}, func(h *harness) {
		got := tokenTimes(time.Now(), h.stream("/v1/completions", "x-1", completion(10, 2)))
		want := []time.Duration{delay + stepOf(testCost, 0, 10), delay + stepOf(testCost, 0, 10) + stepOf(testCost, 1, 0)}
		if !slices.Equal(got, want) {
			t.Errorf("tokens at %v, want %v", got, want)
		}
	})
}

func TestHeldTokenComesWithTheNext(t *testing.T) {
	bubble(t, Config{Profile: &speed.Profile{Hold: 4, Step: speed.StepTime{Cost: testCost}}}, func(h *harness) {
		for id, after := range map[string][]int{
			"x-0": {0, 1, 2, 4, 5, 6, 7}, // the fourth token with the fifth; the eighth is the last
			"x-1": {0, 1, 3, 4, 5, 7},    // 29 is 1 modulo 4: the third and the seventh
		} {
			got := tokenTimes(time.Now(), h.stream("/v1/completions", id, completion(10, 8)))
			var want []time.Duration
			for _, n := range after {
				want = append(want, stepOf(testCost, 0, 10)+span(n, stepOf(testCost, 1, 0)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: chunks at %v, want %v", id, got, want)
			}
			if tr := h.trace(id); len(tr.Tokens) != 8 || tr.Finish != steps.Length {
				t.Errorf("%s: %d tokens, %s", id, len(tr.Tokens), tr.Finish)
			}
		}
	})
}

func TestOutputLengthIsTheProfiles(t *testing.T) {
	lengths := speed.Lengths{First: []int{5, 3}, Mean: 9, SD: 1, Low: 8, High: 10}
	bubble(t, Config{Profile: &speed.Profile{OutputLen: lengths, Step: speed.StepTime{Cost: testCost}}}, func(h *harness) {
		for id, want := range map[string]int{"x-0": 5, "x-1": 3, "x-7": lengths.At(7, math.Phi-1)} {
			h.stream("/v1/completions", id, `{"prompt":"tok1","max_tokens":50,"stream":true}`)
			if tr := h.trace(id); len(tr.Tokens) != want || tr.Finish != steps.Stop {
				t.Errorf("%s: %d tokens, %s; want %d", id, len(tr.Tokens), tr.Finish, want)
			}
		}
		h.stream("/v1/completions", "y-0", `{"prompt":"tok1","max_tokens":4,"stream":true}`)
		if tr := h.trace("y-0"); len(tr.Tokens) != 4 || tr.Finish != steps.Length {
			t.Errorf("cut: %d tokens, %s; want 4 and length", len(tr.Tokens), tr.Finish)
		}
	})
}

func TestProfileExcludesCost(t *testing.T) {
	if _, err := New(Config{Tokenizer: stub, Profile: new(speed.Profile), Jitter: .1}); err == nil {
		t.Error("taken together with jitter")
	}
}
