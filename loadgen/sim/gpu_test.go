package sim

import (
	"slices"
	"testing"
	"time"
)

// neighbour starts a further server on a GPU and has it answer a request with that
// many tokens.
func (h *harness) neighbour(profile *Profile, gpu *GPU, out int) {
	h.t.Helper()
	server, err := New(Config{Tokenizer: stub, Profile: profile, GPU: gpu})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(server.Close)
	server.engine.submit(&sequence{prompt: 1, want: out, finish: finishLength, wake: make(chan struct{}, 1)}, time.Now())
}

func TestServersOfOneGPUSlowEachOther(t *testing.T) {
	profile := &Profile{Step: StepTime{Cost: testCost}, Sharing: Sharing{Base: 1.5, Prompt: 3}}
	slow := Cost{Base: testCost.Base * 3 / 2, PerSequence: testCost.PerSequence * 3 / 2, PerPromptToken: testCost.PerPromptToken * 3}
	slower := Cost{Base: testCost.Base * 2, PerSequence: testCost.PerSequence * 2, PerPromptToken: testCost.PerPromptToken * 5}
	gpu := new(GPU)
	bubble(t, Config{Profile: profile, GPU: gpu}, func(h *harness) {
		for name, row := range map[string]struct {
			neighbours int
			cost       Cost
		}{"alone": {0, testCost}, "beside one": {1, slow}, "beside two": {2, slower}} {
			for range row.neighbours {
				h.neighbour(profile, gpu, 20)
			}
			got := tokenTimes(time.Now(), h.stream("/v1/completions", "x-1", completion(100, 3)))
			first := row.cost.step(0, 100)
			want := []time.Duration{first, first + row.cost.step(1, 0), first + 2*row.cost.step(1, 0)}
			if !slices.Equal(got, want) {
				t.Errorf("%s: tokens at %v, want %v", name, got, want)
			}
			time.Sleep(time.Minute) // until all are idle again
		}
	})
}

func TestServerIsSlowOnlyWhileItsNeighbourWorks(t *testing.T) {
	gpu := new(GPU)
	profile := &Profile{Step: StepTime{Cost: Cost{Base: 10 * time.Millisecond}}} // time slices: twice as long
	bubble(t, Config{Profile: profile, GPU: gpu}, func(h *harness) {
		h.neighbour(profile, gpu, 2) // both steps beside ours, 20 ms each
		got := tokenTimes(time.Now(), h.stream("/v1/completions", "x-1", completion(1, 4)))
		var want []time.Duration
		for _, ms := range []time.Duration{20, 40, 50, 60} {
			want = append(want, ms*time.Millisecond)
		}
		if !slices.Equal(got, want) {
			t.Errorf("tokens at %v, want %v", got, want)
		}
	})
}
