package scrape

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/samples"
)

func TestServersAreReadByTheirOwnNames(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want *samples.Server
	}{
		"vLLM with two engines": {`# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a,b} c"} 3.0
vllm:num_requests_running{engine="1",model_name="a \" } c"} 4.0 1712345678901
vllm:num_requests_waiting{engine="0"} 1.0
vllm:num_requests_waiting{engine="1"} 1e1
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.75
vllm:num_preemptions_total{engine="0"} 2.0
vllm:num_preemptions_created{engine="0"} 1.7e+09
vllm:prefix_cache_queries_total{engine="0"} 100.0
vllm:prefix_cache_hits_total{engine="0"} 30.0
vllm:prefix_cache_hits_created{engine="0"} 1.700000001e+09
vllm:generation_tokens_total{engine="0"} 40
vllm:generation_tokens_total{engine="1"} 2
vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="1000"} 1.0
vllm:cache_config_info{engine="1",block_size="16",num_gpu_blocks="500"} 1.0
`, &samples.Server{Running: new(7.0), Waiting: new(11.0), KVCache: new(0.5), Preemptions: new(2.0),
			PrefixQueries: new(100.0), PrefixHits: new(30.0), Generated: new(42.0), Start: new(1.7e9), Blocks: new(1500.0)}},
		"vLLM that says when it started": {`process_start_time_seconds 1.69e9
vllm:num_preemptions_created{engine="0"} 1.7e+09
vllm:num_requests_running 1
`, &samples.Server{Running: new(1.0), Start: new(1.69e9)}},
		"two processes behind a router": {`process_start_time_seconds{replica="0"} 1.69e9
process_start_time_seconds{replica="1"} 1.69e9
vllm:num_requests_running 1
`, &samples.Server{Running: new(1.0)}},
		"a process of another kind": {"process_start_time_seconds 1.69e9\n", nil},
		"vLLM in transition": {`vllm:gpu_cache_usage_perc 0.5
vllm:kv_cache_usage_perc 0.5
vllm:gpu_prefix_cache_queries_total 10
vllm:prefix_cache_queries_total 10
vllm:gpu_prefix_cache_hits_total 4
vllm:prefix_cache_hits_total 4
`, &samples.Server{KVCache: new(0.5), PrefixQueries: new(10.0), PrefixHits: new(4.0)}},
		"vLLM before": {"vllm:gpu_cache_usage_perc\t0.5\nvllm:gpu_prefix_cache_queries_total 10\nvllm:gpu_prefix_cache_hits_total 4",
			&samples.Server{KVCache: new(0.5), PrefixQueries: new(10.0), PrefixHits: new(4.0)}},
		"SGLang": {`sglang:num_running_reqs{model_name="m"} 3.0
sglang:num_queue_reqs{model_name="m"} 2.0
sglang:token_usage{model_name="m"} 0.28
sglang:prompt_tokens_total{model_name="m"} 4096.0
sglang:cached_tokens_total{cache_source="device",model_name="m"} 3000.0
sglang:cached_tokens_total{cache_source="host",model_name="m"} 72.0
`, &samples.Server{Running: new(3.0), Waiting: new(2.0), KVCache: new(0.28), PrefixQueries: new(4096.0), PrefixHits: new(3072.0)}},
		"text-generation-inference": {"tgi_batch_current_size 5\ntgi_queue_size 0\n", &samples.Server{Running: new(5.0), Waiting: new(0.0)}},
		"llama.cpp":                 {played(t, "llamacpp-metrics.txt"), &samples.Server{Running: new(0.0), Waiting: new(0.0), Generated: new(80.0)}},
		"llama.cpp that counts its cache": {`llamacpp:prompt_tokens_total 13386
llamacpp:prompt_tokens_cached_total 5539
llamacpp:requests_processing 3
llamacpp:requests_deferred 2
`, &samples.Server{Running: new(3.0), Waiting: new(2.0), PrefixQueries: new(18925.0), PrefixHits: new(5539.0)}},
		"llama.cpp before": {"llamacpp:kv_cache_usage_ratio 0.5\n", &samples.Server{KVCache: new(0.5)}},
		"another":          {"go_goroutines 5\n", nil},
		"no numbers":       {"vllm:num_requests_running NaN\nvllm:num_requests_waiting +Inf\nvllm:kv_cache_usage_perc x\n", nil},
		"no metrics":       {"<html>vllm:num_requests_running{a=\"\n{} 1\nvllm:num_requests_running{} \nvllm:num_requests_waiting{a} 3\n", nil},
		"nothing":          {"", nil},
	} {
		got, err := ParseServer(strings.NewReader(c.text))
		if (err == nil) != (c.want != nil) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, said(got), err, said(c.want))
		}
	}
}

// played is what a server was heard to answer.
func played(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/transcripts/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// said is what a sample says, as text.
func said(s *samples.Server) string {
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
