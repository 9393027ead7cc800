package metrics

import (
	"errors"
	"io"
	"time"
)

// A Sample is what a server and its GPUs said of themselves at one moment of a
// run. What they did not say is nil.
type Sample struct {
	From   string        `json:"from,omitempty"` // the URL of the replica that was asked, where replicas were named
	At     time.Duration `json:"at"`             // when it was asked for, from the start of the run
	Took   time.Duration `json:"took,omitempty"` // until the answer was there
	Server *ServerSample `json:"server,omitempty"`
	GPUs   []GPUSample   `json:"gpus,omitempty"`
	Error  string        `json:"error,omitempty"` // why something is not there
}

// A ServerSample is what a server's /metrics said, summed over its engines.
// Counters count from the server's start.
type ServerSample struct {
	Running       *float64 `json:"running,omitempty"`        // requests in the batch
	Waiting       *float64 `json:"waiting,omitempty"`        // requests waiting to be admitted
	KVCache       *float64 `json:"kv_cache,omitempty"`       // share of the KV cache in use, 0 to 1; the mean over engines
	Preemptions   *float64 `json:"preemptions,omitempty"`    // counter
	PrefixQueries *float64 `json:"prefix_queries,omitempty"` // counter of prompt tokens looked up in the prefix cache
	PrefixHits    *float64 `json:"prefix_hits,omitempty"`    // counter of those found there
	Generated     *float64 `json:"generated,omitempty"`      // counter of output tokens
	Start         *float64 `json:"start,omitempty"`          // when the process started, or its first counter was made, in seconds of Unix time
}

// A GPUSample is what one GPU was doing.
type GPUSample struct {
	Index       int      `json:"index"`
	MemoryUsed  *float64 `json:"memory_used,omitempty"`  // MiB
	MemoryTotal *float64 `json:"memory_total,omitempty"` // MiB
	Utilization *float64 `json:"utilization,omitempty"`  // share of the time in which a kernel ran, 0 to 1
	Power       *float64 `json:"power,omitempty"`        // W
}

// ErrNoSample says that a text of metrics holds nothing that is known here.
var ErrNoSample = errors.New("nothing in it is known to servebench")

// ParseServerSample reads it from the text of the /metrics of vLLM, SGLang,
// text-generation-inference or llama.cpp. The error is ErrNoSample when there is
// nothing of theirs in it. The names are from docs.vllm.ai/en/latest/usage/metrics.html,
// docs.sglang.io/docs/references/production_metrics.md,
// huggingface.co/docs/text-generation-inference/reference/metrics and
// github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, and from what
// those servers answer.
func ParseServerSample(r io.Reader) (*ServerSample, error) {
	all := totals{}
	for s, err := range exposition(r) {
		if err != nil {
			return nil, err
		}
		all.add(s)
	}
	s := all.sample()
	if s == (ServerSample{}) {
		return nil, ErrNoSample
	}
	s.Start = all.started()
	return &s, nil
}

// sample is what they say of the server, but for its start.
func (t totals) sample() ServerSample {
	s := ServerSample{
		Running:     t.first("vllm:num_requests_running", "sglang:num_running_reqs", "tgi_batch_current_size", "llamacpp:requests_processing"),
		Waiting:     t.first("vllm:num_requests_waiting", "sglang:num_queue_reqs", "tgi_queue_size", "llamacpp:requests_deferred"),
		KVCache:     t.firstMean("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage", "llamacpp:kv_cache_usage_ratio"),
		Preemptions: t.first("vllm:num_preemptions_total"),
		Generated:   t.first(generated...),
	}
	s.PrefixQueries, s.PrefixHits = t.first(prefixQueryNames...), t.first(prefixHitNames...)
	if found, rest := t.first("llamacpp:prompt_tokens_cached_total"), t.first("llamacpp:prompt_tokens_total"); found != nil && rest != nil {
		s.PrefixQueries, s.PrefixHits = new(*found+*rest), found
	}
	return s
}
