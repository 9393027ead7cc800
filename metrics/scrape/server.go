// Package scrape reads what servers and GPUs report in Prometheus' format.
//
// ParseServer reads the current state of vLLM, SGLang, TensorRT-LLM, text-generation-inference and
// llama.cpp, also through a router or an exporter that spells their names in another way, ParseDCGM
// the state of GPUs from NVIDIA's exporter, and ParseCounters the totals whose difference is what a
// run added. Each knows the names under which the servers' releases have a number and ignores all
// others. A missing number is a nil field, or a count of 0.
package scrape

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/samples"
)

// ErrNoSample says that a text of metrics holds nothing known.
var ErrNoSample = errors.New("nothing in it is known to servebench")

// ParseServer reads a sample from the text of the /metrics of vLLM, SGLang, TensorRT-LLM,
// text-generation-inference or llama.cpp. The error is ErrNoSample if nothing in it is from one of
// these. The names are from docs.vllm.ai/en/latest/usage/metrics.html,
// docs.sglang.io/docs/references/production_metrics.md,
// nvidia.github.io/TensorRT-LLM/latest/examples/prometheus_metrics.html,
// huggingface.co/docs/text-generation-inference/reference/metrics and
// github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, and from the answers of those
// servers.
func ParseServer(r io.Reader) (*samples.Server, error) {
	all, caches := totals{}, totals{}
	for s, err := range exposition(r) {
		if err != nil {
			return nil, err
		}
		all.add(s)
		if n, err := strconv.Atoi(s.label("num_gpu_blocks")); err == nil {
			s.value = float64(n)
			caches.add(s)
		}
	}
	s := all.sample()
	s.Blocks = caches.first("vllm:cache_config_info")
	if s == (samples.Server{}) {
		return nil, ErrNoSample
	}
	s.Start, _ = all.started()
	return &s, nil
}

// sample is the state of the server, without its start.
func (t totals) sample() samples.Server {
	s := samples.Server{
		Running: t.first("vllm:num_requests_running", "sglang:num_running_reqs", "trtllm_num_requests_running",
			"tgi_batch_current_size", "llamacpp:requests_processing"),
		Waiting: t.first("vllm:num_requests_waiting", "sglang:num_queue_reqs", "trtllm_num_requests_waiting",
			"tgi_queue_size", "llamacpp:requests_deferred"),
		KVCache: t.firstMean("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
			"trtllm_kv_cache_utilization", "llamacpp:kv_cache_usage_ratio"),
		Preemptions: t.first("vllm:num_preemptions_total"),
		Generated:   t.first(generated...),
	}
	s.PrefixQueries, s.PrefixHits = t.first(prefixQueryNames...), t.first(prefixHitNames...)
	if found, rest := t.first("llamacpp:prompt_tokens_cached_total"),
		t.first("llamacpp:prompt_tokens_total"); found != nil && rest != nil {
		s.PrefixQueries, s.PrefixHits = new(*found+*rest), found
	}
	return s
}

// generated are the names under which servers count output tokens.
var generated = []string{"vllm:generation_tokens_total", "sglang:generation_tokens_total",
	"trtllm_generation_tokens_total", "llamacpp:tokens_predicted_total"}

// StartTime is the name of the time when a process started, by all of Prometheus' clients.
const StartTime = "process_start_time_seconds"

// started is when the process started, in seconds of Unix time, and how that is known: as it reports,
// or, with Prometheus' Python client, when its first counter was created. It is nil if nothing says
// so, and if several processes say when they started.
func (t totals) started() (at *float64, by string) {
	if said, ok := t[StartTime]; ok {
		if said.series > 1 {
			return nil, ""
		}
		return new(said.sum()), StartTime
	}
	for name, series := range t {
		if strings.HasSuffix(name, "_created") && (at == nil || series.least < *at) {
			at, by = new(series.least), "_created"
		}
	}
	return at, by
}
