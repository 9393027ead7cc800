package scrape

import (
	"reflect"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/samples"
)

func TestServersAreReadThroughRoutersAndExporters(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want samples.Server
	}{
		"/engine_metrics of SGLang's router, with two workers": {`# HELP sglang_num_running_reqs The number of running requests.
# TYPE sglang_num_running_reqs gauge
sglang_num_running_reqs{engine_type="unified",model_name="m",moe_ep_rank="0",pp_rank="0",tp_rank="0",worker_addr="grpc://127.0.0.1:8001"} 3
sglang_num_running_reqs{engine_type="unified",model_name="m",moe_ep_rank="0",pp_rank="0",tp_rank="0",worker_addr="grpc://127.0.0.1:8002"} 4

sglang_num_queue_reqs{worker_addr="grpc://127.0.0.1:8001"} 1
sglang_token_usage{worker_addr="grpc://127.0.0.1:8001"} 0.25
sglang_token_usage{worker_addr="grpc://127.0.0.1:8002"} 0.75
sglang_prompt_tokens_total{worker_addr="grpc://127.0.0.1:8001"} 100
sglang_cached_tokens_total{cache_source="device",worker_addr="grpc://127.0.0.1:8001"} 40
`, samples.Server{Running: new(7.0), Waiting: new(1.0), KVCache: new(0.5), PrefixQueries: new(100.0), PrefixHits: new(40.0)}},
		"OpenTelemetry's exporter": {"vllm_num_requests_running{engine=\"0\",otel_scope_name=\"x\"} 2\nvllm_kv_cache_usage_perc_ratio 0.5\nvllm_cache_config_info{num_gpu_blocks=\"7\"} 1\n",
			samples.Server{Running: new(2.0), KVCache: new(0.5), Blocks: new(7.0)}},
		"Ray, with each counter twice": {`ray_vllm_num_requests_running{ReplicaId="a",engine="0"} 2
ray_vllm_num_requests_running{ReplicaId="b",engine="0"} 3
ray_vllm_generation_tokens{ReplicaId="a"} 40
ray_vllm_generation_tokens_total{ReplicaId="a"} 40
ray_vllm_num_preemptions{ReplicaId="a"} 2
`, samples.Server{Running: new(5.0), Generated: new(40.0), Preemptions: new(2.0)}},
		"two spellings": {"vllm:num_requests_running 2\nvllm_num_requests_running 2\n", samples.Server{Running: new(2.0)}},
		"OpenMetrics": {`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="a } # b"} 2.0 1712345678.901
# TYPE vllm:generation_tokens counter
vllm:generation_tokens_total{engine="0"} 40.0 1712345678.901 # {trace_id="a b"} 1.0 1712345678.5
vllm:generation_tokens_created{engine="0"} 1.7e+09 1712345678.901
# EOF
`, samples.Server{Running: new(2.0), Generated: new(40.0), Start: new(1.7e9)}},
		"quoted names":    {"{\"vllm:num_requests_running\",engine=\"0\"} 2\n{ \"vllm.num_requests_waiting\"} 3\n", samples.Server{Running: new(2.0), Waiting: new(3.0)}},
		"other line ends": {"  vllm:num_requests_running 2\r\n# TYPE vllm:num_requests_waiting gauge\r\nvllm:num_requests_waiting{} 3 17\r\n", samples.Server{Running: new(2.0), Waiting: new(3.0)}},
		"TensorRT-LLM": {"trtllm_num_requests_running 3.0\ntrtllm_num_requests_waiting 1.0\ntrtllm_kv_cache_utilization 0.5\ntrtllm_generation_tokens_total 9\n",
			samples.Server{Running: new(3.0), Waiting: new(1.0), KVCache: new(0.5), Generated: new(9.0)}},
		"TensorRT-LLM in an older Dynamo": {"trtllm:num_requests_running 3.0\n", samples.Server{Running: new(3.0)}},
	} {
		if got, err := ParseServer(strings.NewReader(c.text)); err != nil || !reflect.DeepEqual(got, &c.want) {
			t.Errorf("%s: %v, %v, want %v", name, said(got), err, said(&c.want))
		}
	}
}

// With --enable-metrics-for-all-schedulers, each rank of SGLang reports what all of them do.
func TestRanksThatWorkTogetherCountOnce(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want samples.Server
	}{
		"tensor parallel": {`sglang:num_running_reqs{tp_rank="0",pp_rank="0",moe_ep_rank="0"} 3
sglang:num_running_reqs{tp_rank="1",pp_rank="0",moe_ep_rank="1"} 3
sglang:num_running_reqs{tp_rank="2",pp_rank="0",moe_ep_rank="2"} 2
sglang:num_running_reqs{tp_rank="3",pp_rank="0",moe_ep_rank="3"} 3
sglang:token_usage{tp_rank="0"} 0.25
sglang:token_usage{tp_rank="1"} 0.25
sglang:prompt_tokens_total{tp_rank="0"} 100
sglang:prompt_tokens_total{tp_rank="1"} 100
sglang:cached_tokens_total{tp_rank="0",cache_source="device"} 20
sglang:cached_tokens_total{tp_rank="1",cache_source="device"} 20
sglang:cached_tokens_total{tp_rank="1",cache_source="host"} 5
`, samples.Server{Running: new(3.0), KVCache: new(0.25), PrefixQueries: new(100.0), PrefixHits: new(25.0)}},
		"pipeline parallel": {"sglang:num_queue_reqs{tp_rank=\"0\",pp_rank=\"0\"} 4\nsglang:num_queue_reqs{pp_rank=\"1\",tp_rank=\"0\"} 4\n", samples.Server{Waiting: new(4.0)}},
		"data parallel": {`sglang:num_running_reqs{dp_rank="0",tp_rank="0"} 3
sglang:num_running_reqs{dp_rank="0",tp_rank="1"} 3
sglang:num_running_reqs{dp_rank="1",tp_rank="2"} 5
sglang:num_running_reqs{dp_rank="1",tp_rank="3"} 5
sglang:token_usage{dp_rank="0",tp_rank="0"} 0.2
sglang:token_usage{dp_rank="0",tp_rank="1"} 0.2
sglang:token_usage{dp_rank="1",tp_rank="2"} 0.6
`, samples.Server{Running: new(8.0), KVCache: new(0.4)}},
		"engines of vLLM": {"vllm:num_requests_running{engine=\"0\"} 3\nvllm:num_requests_running{engine=\"1\"} 3\n", samples.Server{Running: new(6.0)}},
	} {
		if got, err := ParseServer(strings.NewReader(c.text)); err != nil || !reflect.DeepEqual(got, &c.want) {
			t.Errorf("%s: %v, %v, want %v", name, said(got), err, said(&c.want))
		}
	}
}

func TestCountersAreReadThroughExporters(t *testing.T) {
	c, err := ParseCounters(strings.NewReader(`vllm_spec_decode_num_drafts_total{engine="0"} 100 # {trace_id="x"} 1
vllm_spec_decode_num_draft_tokens_total 300
vllm_spec_decode_num_accepted_tokens_total 150
vllm_spec_decode_num_accepted_tokens_per_pos_total{position="1"} 90
vllm_time_to_first_token_seconds_bucket{le="1"} 4
vllm_time_to_first_token_seconds_sum 2
vllm_time_to_first_token_seconds_count 4
vllm_prefix_cache_queries_total 10
vllm_prefix_cache_hits_total 4
`))
	want := Counters{Drafts: 100, DraftTokens: 300, AcceptedTokens: 150, AcceptedAt: map[int]int64{1: 90}, PrefixQueries: 10, PrefixHits: 4}
	want.Times.TTFT = samples.Total{Seconds: 2, Requests: 4}
	if want.Sample = c.Sample; err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v, want %+v", c, err, want)
	}
}

func TestAGPUWithoutItsOwnMemoryHasNoTotal(t *testing.T) {
	got, err := ParseDCGM(strings.NewReader("DCGM_FI_DEV_FB_TOTAL{gpu=\"0\"} 0\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 20\n"))
	if err != nil || len(got) != 1 || got[0].MemoryTotal != nil || *got[0].Power != 20 {
		t.Errorf("%+v, %v", got, err)
	}
}
