package sim

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
)

func TestBuiltInProfilesAreWhole(t *testing.T) {
	if len(ProfileNames()) == 0 {
		t.Fatal("there are none")
	}
	for _, name := range ProfileNames() {
		p, err := OpenProfile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.About == "" || p.Step.Base == 0 || p.MaxNumSeqs == 0 || p.MaxNumBatchedTokens == 0 {
			t.Errorf("%s lacks something: %+v", name, p)
		}
	}
}

func TestProfileTakesFromTheOneItIsLike(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(name, []byte("like: sweep-80\nstep: {base: 10ms}\nhold: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := OpenProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	if p.Step.Base != 10*time.Millisecond || p.Hold != 0 || p.Like != "sweep-80" {
		t.Errorf("its own values are %v, %d, %q", p.Step.Base, p.Hold, p.Like)
	}
	if p.Step.PerPromptToken != 716*time.Microsecond || len(p.Step.Knots) != 5 || p.OutputLen.High != 110 {
		t.Errorf("not taken over: %+v", p)
	}
}

func TestProfileRefusesWhatItDoesNotMean(t *testing.T) {
	for text, want := range map[string]string{
		"bse: 1ms":                      "line 1: field bse not found",
		"step: {base: soon}":            "line 1: cannot unmarshal",
		"step: {base: -1ms}":            "must not be negative",
		"step: {overlap: 2}":            "overlap",
		"step: {jitter: .nan}":          "jitter",
		"like: nobody":                  "no other built-in profile nobody",
		"stalls: {probability: 7}":      "probability of stalls",
		"spells: {per-second: .inf}":    "spells",
		"hold: 1":                       "hold",
		"output-len: {median: 3}":       "need high",
		"output-len: {low: 1, high: 9}": "either median and sigma or mean and sd",
		"step: {knots: [{requests: 9, time: 2ms}, {requests: 8, time: 3ms}]}": "ascend",
	} {
		name := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenProfile(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
	if _, err := OpenProfile("nowhere"); err == nil || !strings.Contains(err.Error(), "mps-solo") {
		t.Errorf("an unknown name: %v, want the names that there are", err)
	}
}

func TestStepTimeIsItsFormula(t *testing.T) {
	ms := time.Millisecond
	s := StepTime{
		Cost:    Cost{Base: 10 * ms, PerSequence: ms, PerPromptToken: 10 * time.Microsecond},
		Knots:   []Knot{{4, 8 * ms}, {8, 24 * ms}},
		Overlap: 0.5, Attention: 2, Context: time.Microsecond, Far: 5 * ms,
	}
	shared := Sharing{Base: 2, Prompt: 3}
	for _, row := range []struct {
		batch   batch
		sharing Sharing
		want    time.Duration
	}{
		{batch{}, Sharing{1, 1}, 10 * ms},
		{batch{decoding: 2}, Sharing{1, 1}, 10*ms + 2*ms + 4*ms},
		{batch{decoding: 6}, Sharing{1, 1}, 10*ms + 6*ms + 16*ms},
		{batch{decoding: 10}, Sharing{1, 1}, 10*ms + 10*ms + 32*ms}, // as the line came
		{batch{decoding: 2, prompt: 100}, Sharing{1, 1}, 10*ms + 6*ms + ms - ms/2},
		{batch{decoding: 2, prompt: 1000}, Sharing{1, 1}, 10*ms + 6*ms + 10*ms - 3*ms},
		{batch{decoding: 2, prompt: 100}, shared, 20*ms + 12*ms + 3*ms - 3*ms/2},
		{batch{decoding: 1, context: 300, attended: 1000, far: 1}, Sharing{1, 1}, 10*ms + 3*ms + 300*time.Microsecond + 2000 + 5*ms},
	} {
		if got := s.of(row.batch, row.sharing); got != float64(row.want) {
			t.Errorf("%+v with %v: %v, want %v", row.batch, row.sharing, time.Duration(got), row.want)
		}
	}
}

func TestBatchCountsWhatTokensLookBackOn(t *testing.T) {
	s := scheduler{seqs: 4, budget: 100, decode: 1, kv: kvcache.New(0, false), running: []*sequence{
		{prompt: 9000, out: 7},
		{prompt: 300, unfilled: 200},
	}}
	b, _ := s.compose()
	want := batch{decoding: 1, prompt: 99, attended: 99 * (100 + 49.5), context: 9007, far: 1}
	if b != want {
		t.Errorf("%+v, want %+v", b, want)
	}
}

func TestPrefillFirstHasStepsOfItsOwn(t *testing.T) {
	bubble(t, Config{Profile: &Profile{PrefillFirst: true, Step: StepTime{Cost: testCost}}, Limits: Limits{NumSeqs: 4, NumBatchedTokens: 100}}, func(h *harness) {
		times := h.together(map[string]string{"a-1": completion(50, 3), "a-2": completion(200, 2)})
		one, three := testCost.step(0, 100), 2*testCost.step(0, 100)+testCost.step(0, 50)
		both := three + testCost.step(2, 0)
		if want := []time.Duration{one, both, both + testCost.step(1, 0)}; !slices.Equal(times["a-1"], want) {
			t.Errorf("the first request: %v, want %v", times["a-1"], want)
		}
		if want := []time.Duration{three, both}; !slices.Equal(times["a-2"], want) {
			t.Errorf("the second request: %v, want %v", times["a-2"], want)
		}
	})
}

func TestFrontEndDelaysARequest(t *testing.T) {
	const delay = 30 * time.Millisecond
	bubble(t, Config{Profile: &Profile{FrontEnd: delay, Step: StepTime{Cost: testCost}}}, func(h *harness) {
		got := tokenTimes(time.Now(), h.stream("/v1/completions", "x-1", completion(10, 2)))
		want := []time.Duration{delay + testCost.step(0, 10), delay + testCost.step(0, 10) + testCost.step(1, 0)}
		if !slices.Equal(got, want) {
			t.Errorf("tokens at %v, want %v", got, want)
		}
	})
}

func TestHeldTokenComesWithTheNext(t *testing.T) {
	bubble(t, Config{Profile: &Profile{Hold: 4, Step: StepTime{Cost: testCost}}}, func(h *harness) {
		for id, steps := range map[string][]int{
			"x-0": {0, 1, 2, 4, 5, 6, 7}, // the fourth token with the fifth; the eighth is the last
			"x-1": {0, 1, 3, 4, 5, 7},    // 29 is 1 modulo 4: the third and the seventh
		} {
			got := tokenTimes(time.Now(), h.stream("/v1/completions", id, completion(10, 8)))
			var want []time.Duration
			for _, n := range steps {
				want = append(want, testCost.step(0, 10)+span(n, testCost.step(1, 0)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: chunks at %v, want %v", id, got, want)
			}
			if tr := h.trace(id); len(tr.Tokens) != 8 || tr.Finish != finishLength {
				t.Errorf("%s: %d tokens, %s", id, len(tr.Tokens), tr.Finish)
			}
		}
	})
}

func TestStallsAndSpellsAreAsOftenAndAsLongAsSaid(t *testing.T) {
	p := &Profile{
		Step:   StepTime{Cost: Cost{Base: 10 * time.Millisecond}},
		Stalls: Stalls{Probability: .1, Mean: 20 * time.Millisecond},
		Spells: Spells{PerSecond: .02, Last: 2 * time.Second, Factor: 3},
	}
	w, at := newStopwatch(p, nil, 5), time.Unix(0, 0)
	var work, slow float64
	const steps = 400_000
	for range steps {
		took := w.step(batch{decoding: 1}, at)
		if work += took.Seconds(); at.Before(w.spells.until) {
			slow += took.Seconds()
		}
		at = at.Add(took)
	}
	if share := slow / work; math.Abs(share-.04) > .01 { // .02 a second, of 2 s each
		t.Errorf("spells last for %.3f of the time, want .04", share)
	}
	mean := (work - slow*2/3) / steps
	if want := .010 + .1*.020; math.Abs(mean-want) > .0001 {
		t.Errorf("a step takes %.5f s without spells, want %.5f", mean, want)
	}
}

func TestLengthsFollowTheirDistribution(t *testing.T) {
	logNormal := Lengths{Median: 80, Sigma: 1, Low: 1, High: 1 << 20}
	normal := Lengths{First: []int{7, 9}, Mean: 100, SD: 10, Low: 85, High: 1000}
	const n = 10_000
	sum, below := 0.0, 0
	for i := range int64(n) {
		sum += float64(normal.at(i, outputStride))
		if logNormal.at(i, outputStride) <= 80 {
			below++
		}
	}
	if below < n/2-60 || below > n/2+60 { // the median and what rounds to it
		t.Errorf("%d of %d lengths are up to the median", below, n)
	}
	if mean := sum / n; mean < 100 || mean > 100.5 { // cut below at 1.5 standard deviations
		t.Errorf("the mean is %v", mean)
	}
	if normal.at(0, outputStride) != 7 || normal.at(1, outputStride) != 9 {
		t.Error("the first lengths are not those that are given")
	}
}

func TestOutputLengthIsTheProfiles(t *testing.T) {
	lengths := Lengths{First: []int{5, 3}, Mean: 9, SD: 1, Low: 8, High: 10}
	bubble(t, Config{Profile: &Profile{OutputLen: lengths, Step: StepTime{Cost: testCost}}}, func(h *harness) {
		for id, want := range map[string]int{"x-0": 5, "x-1": 3, "x-7": lengths.at(7, outputStride)} {
			h.stream("/v1/completions", id, `{"prompt":"tok1","max_tokens":50,"stream":true}`)
			if tr := h.trace(id); len(tr.Tokens) != want || tr.Finish != finishStop {
				t.Errorf("%s: %d tokens, %s; want %d", id, len(tr.Tokens), tr.Finish, want)
			}
		}
		h.stream("/v1/completions", "y-0", `{"prompt":"tok1","max_tokens":4,"stream":true}`)
		if tr := h.trace("y-0"); len(tr.Tokens) != 4 || tr.Finish != finishLength {
			t.Errorf("cut: %d tokens, %s; want 4 and length", len(tr.Tokens), tr.Finish)
		}
	})
}

func TestProfileExcludesCost(t *testing.T) {
	if _, err := New(Config{Tokenizer: stub, Profile: new(Profile), Jitter: .1}); err == nil {
		t.Error("taken together with jitter")
	}
}
