package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// neighbour starts a further server on a GPU and has it answer a request with that
// many tokens.
func (h *harness) neighbour(profile *speed.Profile, gpu *speed.GPU, out int) {
	h.t.Helper()
	server, err := New(Config{Tokenizer: stub, Profile: profile, Device: Device{GPU: gpu}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(server.Close)
	server.engine.Submit(steps.NewSequence(steps.Request{Prompt: 1, Want: out, Finish: steps.Length, Read: true}), time.Now())
}

func TestServersOfOneGPUSlowEachOther(t *testing.T) {
	profile := &speed.Profile{Step: speed.StepTime{Cost: testCost}, Sharing: speed.Sharing{Base: 1.5, Prompt: 3}}
	slow := speed.Cost{Base: testCost.Base * 3 / 2, PerSequence: testCost.PerSequence * 3 / 2, PerPromptToken: testCost.PerPromptToken * 3}
	slower := speed.Cost{Base: testCost.Base * 2, PerSequence: testCost.PerSequence * 2, PerPromptToken: testCost.PerPromptToken * 5}
	gpu := new(speed.GPU)
	bubble(t, Config{Profile: profile, Device: Device{GPU: gpu}}, func(h *harness) {
		for name, row := range map[string]struct {
			neighbours int
			cost       speed.Cost
		}{"alone": {0, testCost}, "beside one": {1, slow}, "beside two": {2, slower}} {
			for range row.neighbours {
				h.neighbour(profile, gpu, 20)
			}
			got := tokenTimes(time.Now(), h.stream("/v1/completions", "x-1", completion(100, 3)))
			first := stepOf(row.cost, 0, 100)
			want := []time.Duration{first, first + stepOf(row.cost, 1, 0), first + 2*stepOf(row.cost, 1, 0)}
			if !slices.Equal(got, want) {
				t.Errorf("%s: tokens at %v, want %v", name, got, want)
			}
			time.Sleep(time.Minute) // until all are idle again
		}
	})
}

func TestServerIsSlowOnlyWhileItsNeighbourWorks(t *testing.T) {
	gpu := new(speed.GPU)
	profile := &speed.Profile{Step: speed.StepTime{Cost: speed.Cost{Base: 10 * time.Millisecond}}} // time slices: twice as long
	bubble(t, Config{Profile: profile, Device: Device{GPU: gpu}}, func(h *harness) {
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

func TestServersShareTheSMs(t *testing.T) {
	profile := func(share float64) *speed.Profile {
		return &speed.Profile{Step: speed.StepTime{Cost: testCost}, SMs: speed.SMs{Share: share, Decode: .6}}
	}
	for name, row := range map[string]struct {
		share        float64
		neighbours   []float64 // their shares; each decodes
		base, prompt float64   // how many times as long the first step takes, which has a prompt
		decode       float64   // and the next ones
	}{
		"alone with all":             {share: 1, base: 1, prompt: 1, decode: 1},
		"alone with half":            {share: .5, base: 1.2, prompt: 2, decode: 1.2},
		"two with all":               {1, []float64{1}, 1.2, 2, 1.2},
		"three with all":             {1, []float64{1, 1}, 1.8, 3, 1.8},
		"all, and a quarter":         {1, []float64{.25}, 1, 1 / .75, 1},
		"a quarter, and all":         {.25, []float64{1}, 2.4, 4, 2.4},
		"two halves":                 {.5, []float64{.5}, 1.2, 2, 1.2},
		"75 %, two tenths, and half": {.75, []float64{.1, .1, .5}, 1.5, 2.5, 1.5},
	} {
		gpu := new(speed.GPU)
		bubble(t, Config{Profile: profile(row.share), Device: Device{GPU: gpu}}, func(h *harness) {
			for _, share := range row.neighbours {
				h.neighbour(profile(share), gpu, 1000)
			}
			time.Sleep(time.Second) // the neighbours decode
			scaled := func(base, prompt float64, decoding, tokens int) time.Duration {
				cost := stepOf(testCost, decoding, 0)
				return time.Duration(float64(cost)*base + float64(stepOf(testCost, decoding, tokens)-cost)*prompt)
			}
			got := tokenTimes(time.Now(), h.stream("/v1/completions", "x-1", completion(100, 3)))
			first, next := scaled(row.base, row.prompt, 0, 100), scaled(row.decode, 1, 1, 0)
			for i, want := range []time.Duration{first, first + next, first + 2*next} {
				if off := got[i] - want; off < -time.Microsecond || off > time.Microsecond {
					t.Errorf("%s: token %d at %v, want %v", name, i, got[i], want)
				}
			}
		})
	}
}
