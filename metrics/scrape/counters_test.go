package scrape

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/samples"
)

func TestCountersOfOtherServersPrefixCaches(t *testing.T) {
	for name, c := range map[string]struct {
		text          string
		hits, queries int64
	}{
		"SGLang":        {"sglang:prompt_tokens_total 4096\nsglang:cached_tokens_total{cache_source=\"device\"} 3000\nsglang:cached_tokens_total{cache_source=\"host\"} 72\n", 3072, 4096},
		"an older one":  {"sglang:prompt_tokens_total 4096\nsglang:cache_hit_rate 0.5\n", 0, 0},
		"hits of none":  {"vllm:prefix_cache_hits_total 4\n", 0, 0},
		"no such thing": {"tgi_queue_size 3\n", 0, 0},
	} {
		if got, err := ParseCounters(strings.NewReader(c.text)); err != nil || got.PrefixHits != c.hits || got.PrefixQueries != c.queries {
			t.Errorf("%s: %d of %d, %v", name, got.PrefixHits, got.PrefixQueries, err)
		}
	}
}

func TestCountersSayHowTheStartIsKnown(t *testing.T) {
	for text, want := range map[string]string{
		"process_start_time_seconds 5\nvllm:a_created 6\n": "process_start_time_seconds",
		"vllm:a_created 6\n":             "_created",
		"vllm:num_preemptions_total 6\n": "",
	} {
		if c, err := ParseCounters(strings.NewReader(text)); err != nil || c.StartedBy != want || (c.Sample.Start != nil) != (want != "") {
			t.Errorf("%s: known by %q, %v, %v, want %q", text, c.StartedBy, c.Sample.Start, err, want)
		}
	}
}

// With several requests at once llama.cpp counts tokens as found in its cache that
// cannot have been there: 21 of 51 of a prompt never sent before, in build 11549. No
// verdict rests on that.
func TestLlamaCppsCacheIsNotJudged(t *testing.T) {
	c, err := ParseCounters(strings.NewReader("llamacpp:prompt_tokens_total 90\nllamacpp:prompt_tokens_cached_total 10\n"))
	if err != nil || c.PrefixQueries != 0 || c.PrefixHits != 0 {
		t.Errorf("%d of %d, %v, want none", c.PrefixHits, c.PrefixQueries, err)
	}
}

// A server that is in transition between two names of a counter does not count twice.
func TestCountersUnderTwoNamesCountOnce(t *testing.T) {
	c, err := ParseCounters(strings.NewReader(`vllm:gpu_prefix_cache_queries_total 10
vllm:prefix_cache_queries_total{engine="0"} 10
vllm:prefix_cache_queries_total{engine="1"} 5
vllm:gpu_prefix_cache_hits_total 4
vllm:prefix_cache_hits_total 4
`))
	if err != nil || c.PrefixQueries != 15 || c.PrefixHits != 4 {
		t.Errorf("%d of %d, %v, want 4 of 15", c.PrefixHits, c.PrefixQueries, err)
	}
}

func TestCountersBecomeSections(t *testing.T) {
	read := func(text string) Counters {
		t.Helper()
		c, err := ParseCounters(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := read("")
	after := read(`# HELP vllm:spec_decode_num_drafts_total Number of drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
# TYPE vllm:spec_decode_num_drafts_total counter
what is this{
vllm:spec_decode_num_drafts_total{engine="0",model_name="a b"} 600.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="a b"} 4e2
vllm:spec_decode_num_drafts_created{engine="0"} 1.7e+09
vllm:spec_decode_num_draft_tokens_total 3000.0
vllm:spec_decode_num_accepted_tokens_total{engine="0"} 2000.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="10"} 100.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="2"} 500.0
vllm:diffusion_num_denoising_steps_total 50.0
vllm:diffusion_num_canvas_positions_total 1600.0
vllm:diffusion_num_committed_tokens_total 320.0
vllm:prefix_cache_queries_total{engine="0"} 1.2e+03
vllm:prefix_cache_hits_total{engine="0"} 96.0
`)
	spec := before.SpecDecode(after)
	if spec == nil || spec.Drafts != 1000 || spec.DraftTokens != 3000 || spec.AcceptanceLength != 3 ||
		!slices.Equal(spec.PerPosition, []float64{0.5, 0.1}) {
		t.Errorf("speculation %+v", spec)
	}
	// 32 positions a step, so 10 canvases, each of 4 steps and one to commit.
	want := &samples.Diffusion{CommittedThroughput: 32, StepsPerCanvas: 4, CommittedPerStep: 8,
		CommittedTokens: 320, DenoisingSteps: 40, CanvasPositions: 1600}
	if got := before.Diffusion(after, 10); !reflect.DeepEqual(got, want) {
		t.Errorf("diffusion %+v, want %+v", got, want)
	}
	if after.PrefixQueries != 1200 || after.PrefixHits != 96 {
		t.Errorf("%d of %d prompt tokens from the prefix cache, want 96 of 1200", after.PrefixHits, after.PrefixQueries)
	}
	if after.SpecDecode(after) != nil || after.Diffusion(after, 10) != nil {
		t.Error("sections without any change")
	}
}

// The text is as vLLM 0.32 writes it, for two engines.
func TestCountersHaveTheTimesOfHistograms(t *testing.T) {
	c, err := ParseCounters(strings.NewReader(`# HELP vllm:request_queue_time_seconds Histogram of time spent in WAITING phase for request.
# TYPE vllm:request_queue_time_seconds histogram
vllm:request_queue_time_seconds_bucket{engine="0",le="0.3",model_name="m"} 3.0
vllm:request_queue_time_seconds_bucket{engine="0",le="+Inf",model_name="m"} 4.0
vllm:request_queue_time_seconds_count{engine="0",model_name="m"} 4.0
vllm:request_queue_time_seconds_sum{engine="0",model_name="m"} 0.5
vllm:request_queue_time_seconds_count{engine="1",model_name="m"} 6.0
vllm:request_queue_time_seconds_sum{engine="1",model_name="m"} 0.25
vllm:request_prefill_time_seconds_count{engine="0",model_name="m"} 4.0
vllm:request_prefill_time_seconds_sum{engine="0",model_name="m"} 0.125
vllm:request_decode_time_seconds_count{engine="0",model_name="m"} 4.0
vllm:request_decode_time_seconds_sum{engine="0",model_name="m"} 8.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 5.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} 1.0
`))
	want := samples.Totals{
		Queue: samples.Total{Seconds: 0.75, Requests: 10}, Prefill: samples.Total{Seconds: 0.125, Requests: 4},
		Generation: samples.Total{Seconds: 8, Requests: 4}, TTFT: samples.Total{Seconds: 1, Requests: 5},
	}
	if err != nil || c.Times != want {
		t.Errorf("%+v, %v; want %+v", c.Times, err, want)
	}
	if both := c.Plus(c).Times; both != want.Plus(want) {
		t.Errorf("two replicas: %+v", both)
	}
}
