package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// pulled are the first n conversations of a workload: their ids and prompts.
func pulled(t *testing.T, o *options, n int) (ids, prompts map[string]int) {
	t.Helper()
	w, err := openWorkload(t.Context(), o, tokenizerSource{model: "stub-32000", say: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	ids, prompts = map[string]int{}, map[string]int{}
	for c, err := range w.source {
		if err != nil {
			t.Fatal(err)
		}
		ids[c.ID]++
		prompts[c.Turns[0].Prompt]++
		if n--; n == 0 {
			break
		}
	}
	if n > 0 {
		t.Fatalf("%d conversations too few", n)
	}
	return ids, prompts
}

func TestTimedRunHasTheRequestsOfItsTime(t *testing.T) {
	for line, want := range map[string]int{
		"--duration 3s --request-rate 2.5":                                                                            8,
		"--duration 3s --request-rate 2.5 --num-prompts 5":                                                            5,
		"--rate-curve steps:0=2,10=3,20=1 --burstiness inf":                                                           50,
		"--rate-curve steps:0=2,10=3,20=1 --burstiness inf --duration 30":                                             60,
		"--rate-curve steps:0=2,10=3,20=1 --burstiness inf --num-prompts 7":                                           7,
		"--duration 10 --ramp-up-strategy linear --ramp-up-start-rps 5 --ramp-up-end-rps 5":                           50,
		"--duration 3s --max-concurrency 4":                                                                           0,
		"--duration 3s --max-concurrency 4 --num-prompts 9":                                                           9,
		"--duration 3s --request-rate 2 --dataset-name timed_trace --dataset-path x --no-self-timed --num-prompts 33": 33,
	} {
		o := mustParse(t, line)
		c := o.config()
		if c.NumPrompts != want {
			t.Errorf("%s: %d prompts, want %d", line, c.NumPrompts, want)
		}
		recorded := false
		for _, kv := range o.Flags {
			recorded = recorded || kv.Key == "num-prompts"
		}
		if given := strings.Contains(line, "--num-prompts"); recorded != given {
			t.Errorf("%s: num-prompts recorded: %v", line, recorded)
		}
	}
}

func TestDatasetWithTimesOfItsOwnKeepsItsNumberOfPrompts(t *testing.T) {
	o := mustParse(t, "--duration 3s --dataset-name timed_trace --dataset-path x")
	if n := o.config().NumPrompts; n != 1000 || o.timed() || o.endless() {
		t.Errorf("%d prompts, by its time: %v, without end: %v", n, o.timed(), o.endless())
	}
}

func TestCurvesCountFollowsTheSeedOfTheTrial(t *testing.T) {
	counts := map[int]bool{}
	for seed := range 5 {
		o := mustParse(t, "--rate-curve up-down:0,20,1")
		o.Workload.Seed = int64(seed)
		sized, err := o.sized()
		if err != nil {
			t.Fatal(err)
		}
		counts[sized.Workload.NumPrompts] = true
	}
	if len(counts) < 3 {
		t.Errorf("5 seeds gave the counts %v", counts)
	}
}

func TestConfigSaysWhatShapeTheLoadHas(t *testing.T) {
	c := mustParse(t, "--rate-curve up-down:1,2 --duration 90s").config()
	if c.RateCurve != "up-down:1,2" || c.Duration != 90 || !math.IsInf(c.RequestRate, 1) {
		t.Errorf("%+v", c)
	}
}

func TestRoundsHaveOtherPromptsAndIDs(t *testing.T) {
	o := mustParse(t, "--duration 9s --max-concurrency 2 --random-input-len 20 --request-id-prefix r- --seed 4294967295")
	o.Workload.NumPrompts = 10
	ids, prompts := pulled(t, o, 35)
	if len(ids) != 35 || len(prompts) != 35 {
		t.Errorf("35 conversations with %d ids and %d prompts", len(ids), len(prompts))
	}
	if ids["r-0"] != 1 || ids["r-4-1000002"] != 1 || ids["r-4-3000008"] != 1 {
		t.Errorf("ids %v", ids)
	}
}

// writeCustom makes a custom dataset of n prompts.
func writeCustom(t *testing.T, n int) string {
	t.Helper()
	text := ""
	for i := range n {
		text += fmt.Sprintf("{\"prompt\": \"tok%d tok2\"}\n", i)
	}
	name := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestDatasetOfAFileIsSentAgain(t *testing.T) {
	o := mustParse(t, "--duration 9s --request-rate 4 --dataset-name custom --skip-chat-template --no-oversample --dataset-path", writeCustom(t, 5))
	said := ""
	from := tokenizerSource{model: "stub-32000", say: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
	w, err := openWorkload(t.Context(), o, from)
	if err != nil || w.n != 36 {
		t.Fatalf("%d conversations, %v", w.n, err)
	}
	if !strings.Contains(said, "the custom dataset has 5 prompts: should the load take more, they are sent again") {
		t.Errorf("said %q", said)
	}
	if _, prompts := pulled(t, o, 36); len(prompts) != 5 {
		t.Errorf("%d prompts, want 5 again and again", len(prompts))
	}
}

func TestWarmUpThatFailsIsSaid(t *testing.T) {
	var w warmUp
	for _, class := range []metrics.Class{metrics.OK, metrics.Cancelled} {
		w.note(&metrics.Record{Class: class})
	}
	if got := w.warnings(); got != nil {
		t.Errorf("said %q of nothing", got)
	}
	w.note(&metrics.Record{Class: metrics.Status, Error: "500"})
	w.note(&metrics.Record{Class: metrics.Stall, Error: "stalled"})
	if got := w.warnings(); len(got) != 1 || got[0] != "2 requests of the warm-up failed, the first: 500" {
		t.Errorf("said %q", got)
	}
}

func TestLoadIsExpectedToTakeItsTime(t *testing.T) {
	const small = " --random-input-len 1 --random-output-len 50" // an answer of one second
	for line, want := range map[string]time.Duration{
		"--rate-curve up-down:0,20,1":                                               41 * time.Second,
		"--rate-curve up-down:0,20,1 --duration 60":                                 61 * time.Second,
		"--duration 30s --max-concurrency 8 --warmup-duration 10":                   41 * time.Second,
		"--duration 30s --request-rate 1000":                                        31 * time.Second,
		"--duration 30s --num-prompts 10 --request-rate 1":                          11 * time.Second,
		"--duration 30s --num-prompts 100 --request-rate 1 --warmup-duration 500ms": 31500 * time.Millisecond,
	} {
		if got := expected(mustParse(t, line+small)).Round(time.Second / 2); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

// Cutting prompts to length by the server's count would never come to an end.
func TestEndlessPromptsAreNotAligned(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"tokens": [1, 2, 3, 4, 5, 6, 7]}`)
	}))
	defer server.Close()
	o := mustParse(t, "--max-concurrency 3 --duration 9s --random-input-len 5")
	w, err := openWorkload(t.Context(), o, tokenizerSource{model: "stub-32000", say: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	var talk strings.Builder
	b := &bench{options: o, out: io.Discard, talk: &talk, server: &loadgen.Server{URL: server.URL}, workload: w}
	if err := b.align(t.Context()); err != nil || !strings.Contains(talk.String(), "WARNING: the server has 7 tokens in a prompt of 5: ") {
		t.Errorf("%v, said %q", err, talk.String())
	}
}
