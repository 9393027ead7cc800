package sim

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// value is the value of a line of /metrics.
func (h *harness) value(series string) float64 {
	h.t.Helper()
	for line := range strings.Lines(h.get("/metrics")) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				h.t.Fatal(err)
			}
			return v
		}
	}
	h.t.Errorf("no %s in /metrics", series)
	return 0
}

func TestMetricsAreWhatHappened(t *testing.T) {
	const labels = `{engine="0",model_name="small"}`
	bubble(t, Config{Cost: testCost, ServedModelName: "small", Limits: Limits{NumSeqs: 1}}, func(h *harness) {
		began := time.Now() // a whole second
		h.together(map[string]string{"a-1": completion(10, 3), "a-2": completion(20, 5)})
		one := stepOf(testCost, 0, 10) + 2*stepOf(testCost, 1, 0)
		two := stepOf(testCost, 0, 20) + 4*stepOf(testCost, 1, 0)
		for series, want := range map[string]float64{
			"vllm:prompt_tokens_total" + labels:                                                  30,
			"vllm:generation_tokens_total" + labels:                                              8,
			`vllm:request_success_total{engine="0",model_name="small",finished_reason="length"}`: 2,
			`vllm:request_success_total{engine="0",model_name="small",finished_reason="stop"}`:   0,
			"vllm:num_requests_running" + labels:                                                 0,
			"vllm:num_requests_waiting" + labels:                                                 0,
			"vllm:time_to_first_token_seconds_count" + labels:                                    2,
			"vllm:time_to_first_token_seconds_sum" + labels:                                      seconds(stepOf(testCost, 0, 10), one+stepOf(testCost, 0, 20)),
			"vllm:inter_token_latency_seconds_count" + labels:                                    6,
			"vllm:e2e_request_latency_seconds_sum" + labels:                                      seconds(one, one+two),
			"vllm:request_queue_time_seconds_sum" + labels:                                       seconds(speed.Gather, one+speed.Gather),
			`vllm:inter_token_latency_seconds_bucket{engine="0",model_name="small",le="0.01"}`:   0,
			`vllm:inter_token_latency_seconds_bucket{engine="0",model_name="small",le="0.025"}`:  6,
			`vllm:request_generation_tokens_bucket{engine="0",model_name="small",le="2.0"}`:      0,
			`vllm:request_generation_tokens_bucket{engine="0",model_name="small",le="+Inf"}`:     2,
			`vllm:request_prompt_tokens_bucket{engine="0",model_name="small",le="10.0"}`:         1,
			"vllm:request_time_per_output_token_seconds_sum" + labels:                            2 * stepOf(testCost, 1, 0).Seconds(),
			"vllm:request_decode_time_seconds_sum" + labels:                                      6 * stepOf(testCost, 1, 0).Seconds(),
			"vllm:request_prefill_time_seconds_sum" + labels:                                     seconds(stepOf(testCost, 0, 10)-speed.Gather, stepOf(testCost, 0, 20)-speed.Gather),
			"vllm:num_preemptions_total" + labels:                                                0,
			"vllm:prefix_cache_queries_total" + labels:                                           0,
			"vllm:prefix_cache_hits_total" + labels:                                              0,
			"process_start_time_seconds":                                                         float64(began.Unix()),
		} {
			if got := h.value(series); fmt.Sprintf("%.9f", got) != fmt.Sprintf("%.9f", want) {
				t.Errorf("%s is %v, want %v", series, got, want)
			}
		}
		if strings.Contains(h.get("/metrics"), "kv_cache_usage") {
			t.Error("a share of a KV cache without a size is in use")
		}
	})
}

func TestGaugesCountRunningAndWaiting(t *testing.T) {
	bubble(t, Config{Cost: testCost, Limits: Limits{NumSeqs: 2}}, func(h *harness) {
		for i := range 5 {
			go h.stream("/v1/completions", fmt.Sprintf("a-%d", i), completion(10, 100))
		}
		time.Sleep(stepOf(testCost, 0, 20) + time.Millisecond)
		if got := h.value(`vllm:num_requests_running{engine="0",model_name="stub-32000"}`); got != 2 {
			t.Errorf("%v running, want 2", got)
		}
		if got := h.value(`vllm:num_requests_waiting{engine="0",model_name="stub-32000"}`); got != 3 {
			t.Errorf("%v waiting, want 3", got)
		}
		time.Sleep(10 * time.Second)
	})
}

func TestSpeculationIsCounted(t *testing.T) {
	bubble(t, Config{Cost: testCost, Speculative: steps.Speculative{Tokens: 2, Acceptance: .5}}, func(h *harness) {
		h.stream("/v1/completions", "x", completion(10, 1000))
		spec := func(name, more string) float64 {
			return h.value("vllm:spec_decode_num_" + name + `{engine="0",model_name="stub-32000"` + more + "}")
		}
		drafts, accepted := spec("drafts_total", ""), spec("accepted_tokens_total", "")
		if got := spec("draft_tokens_total", ""); got != 2*drafts {
			t.Errorf("%v draft tokens in %v drafts of 2", got, drafts)
		}
		first, second := spec("accepted_tokens_per_pos_total", `,position="0"`), spec("accepted_tokens_per_pos_total", `,position="1"`)
		if first+second != accepted {
			t.Errorf("%v + %v accepted by position, %v in all", first, second, accepted)
		}
		// The last step may have given more than was wanted; the first token is prefill's.
		if tokens := 1 + drafts + accepted; tokens < 1000 || tokens > 1002 {
			t.Errorf("drafts and accepted tokens make %v tokens, want 1000", tokens)
		}
		if rate := first / drafts; rate < .4 || rate > .6 {
			t.Errorf("acceptance at the first position is %v, asked for .5", rate)
		}
	})
}

func seconds(ds ...time.Duration) float64 {
	var sum time.Duration
	for _, d := range ds {
		sum += d
	}
	return sum.Seconds()
}
