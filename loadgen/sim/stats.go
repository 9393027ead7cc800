package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// stats is the content of /metrics: what the engine really did.
type stats struct {
	labels  string
	spec    Speculative
	started time.Time // of the server

	mu                 sync.Mutex
	running, waiting   int
	prompt, generation int
	preemptions        int
	finishes           map[string]int
	drafts, accepted   int
	acceptedAt         []int // by position in the draft

	ttft, itl, tpot                          *histogram
	e2e, queue, inference, prefill, decoding *histogram
	promptSize, outputSize                   *histogram
}

func newStats(cfg *Config) *stats {
	sizes := sizeBounds(cfg.MaxModelLen)
	request := func(name, of string) *histogram {
		return newHistogram("vllm:"+name+"_seconds", "Histogram of "+of+" in seconds.", requestBounds)
	}
	return &stats{
		labels:     fmt.Sprintf("engine=\"0\",model_name=%q", cfg.ServedModelName),
		spec:       cfg.Speculative,
		acceptedAt: make([]int, cfg.Speculative.Tokens),
		finishes:   map[string]int{finishStop: 0, finishLength: 0, finishAbort: 0},

		ttft: newHistogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
			ttftBounds),
		itl: newHistogram("vllm:inter_token_latency_seconds",
			"Histogram of time between a request's steps in seconds.", tokenBounds),
		tpot: newHistogram("vllm:request_time_per_output_token_seconds",
			"Histogram of time per output token of a request in seconds.", tokenBounds),
		e2e:        request("e2e_request_latency", "end to end request latency"),
		queue:      request("request_queue_time", "time from arrival to admission"),
		inference:  request("request_inference_time", "time from admission to the last token"),
		prefill:    request("request_prefill_time", "time from admission to the first token"),
		decoding:   request("request_decode_time", "time from the first to the last token"),
		promptSize: newHistogram("vllm:request_prompt_tokens", "Number of prompt tokens of a request.", sizes),
		outputSize: newHistogram("vllm:request_generation_tokens", "Number of output tokens of a request.", sizes),
	}
}

func (s *stats) arrived() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
}

func (s *stats) admitted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	s.running++
}

// preempted counts sequences that went back to waiting.
func (s *stats) preempted(n int) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting += n
	s.running -= n
	s.preemptions += n
}

// left counts aborted requests, by where they were.
func (s *stats) left(running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running -= running
	s.waiting -= waiting
	s.finishes[finishAbort] += running + waiting
}

// draft lets a sequence draft tokens and returns how many were accepted.
func (s *stats) draft(chance *rand.Rand) (accepted int) {
	for accepted < s.spec.Tokens && chance.Float64() < s.spec.Acceptance {
		accepted++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drafts++
	s.accepted += accepted
	for i := range accepted {
		s.acceptedAt[i]++
	}
	return accepted
}

// produced counts n tokens of a sequence. It is called before the sequence's first and last are
// updated.
func (s *stats) produced(seq *sequence, n int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation += n
	if added := &seq.added; seq.out > n {
		later := added.Token(seq.out-1, seq.want) - added.Token(seq.out-n-1, seq.want)
		s.itl.observe((now.Sub(seq.last) + later).Seconds())
		return
	}
	s.prompt += seq.prompt
	s.ttft.observe((now.Sub(seq.arrived) + seq.added.Token(0, seq.want)).Seconds())
}

func (s *stats) finished(seq *sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.finishes[seq.finish]++
	scheduled, first, last := seq.scheduled(), seq.firstToken(), seq.lastToken()
	s.e2e.observe(last.Sub(seq.arrived).Seconds())
	s.queue.observe(scheduled.Sub(seq.arrived).Seconds())
	s.inference.observe(last.Sub(scheduled).Seconds())
	s.prefill.observe(first.Sub(scheduled).Seconds())
	s.decoding.observe(last.Sub(first).Seconds())
	if seq.out > 1 {
		s.tpot.observe(last.Sub(first).Seconds() / float64(seq.out-1))
	}
	s.promptSize.observe(float64(seq.prompt))
	s.outputSize.observe(float64(seq.out))
}

// text is the exposition.
func (s *stats) text(kv *kvCache) string {
	queries, hits, usage := kv.counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &exposition{labels: s.labels}
	x.metric("vllm:num_requests_running", "Number of requests in the batch.", "gauge", float64(s.running))
	x.metric("vllm:num_requests_waiting", "Number of requests waiting to be admitted.", "gauge", float64(s.waiting))
	x.metric("vllm:prompt_tokens_total", "Number of prompt tokens processed.", "counter", float64(s.prompt))
	x.metric("vllm:generation_tokens_total", "Number of output tokens generated.", "counter", float64(s.generation))
	x.head("vllm:request_success_total", "Number of finished requests.", "counter")
	for _, reason := range []string{finishStop, finishLength, finishAbort} {
		x.sample("vllm:request_success_total", `finished_reason="`+reason+`"`, float64(s.finishes[reason]))
	}
	for _, h := range []*histogram{s.ttft, s.itl, s.tpot, s.e2e, s.queue, s.inference, s.prefill, s.decoding,
		s.promptSize, s.outputSize} {
		x.histogram(h)
	}
	if s.spec.Tokens > 0 {
		s.speculation(x)
	}
	if kv.size > 0 { // a cache without a size has no share in use
		x.metric("vllm:kv_cache_usage_perc", "Share of the KV cache's blocks in use; 1 is all.", "gauge", usage)
		x.head("vllm:cache_config_info", "Information of the cache.", "gauge")
		x.sample("vllm:cache_config_info", fmt.Sprintf(`block_size="%d",num_gpu_blocks="%d"`, blockSize, kv.size), 1)
	}
	x.metric("vllm:num_preemptions_total", "Number of times that a request lost its blocks to another.", "counter",
		float64(s.preemptions))
	x.metric("vllm:prefix_cache_queries_total", "Number of prompt tokens looked up in the prefix cache.", "counter",
		float64(queries))
	x.metric("vllm:prefix_cache_hits_total", "Number of prompt tokens found in the prefix cache.", "counter",
		float64(hits))
	x.process(s.started)
	return x.String()
}

func (s *stats) speculation(x *exposition) {
	const name = "vllm:spec_decode_num_"
	x.metric(name+"drafts_total", "Number of drafts.", "counter", float64(s.drafts))
	x.metric(name+"draft_tokens_total", "Number of draft tokens.", "counter", float64(s.drafts*s.spec.Tokens))
	x.metric(name+"accepted_tokens_total", "Number of accepted draft tokens.", "counter", float64(s.accepted))
	x.head(name+"accepted_tokens_per_pos_total", "Number of accepted draft tokens by position.", "counter")
	for i, n := range s.acceptedAt {
		x.sample(name+"accepted_tokens_per_pos_total", fmt.Sprintf("position=%q", fmt.Sprint(i)), float64(n))
	}
}

// metrics answers GET /metrics.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	io.WriteString(w, s.stats.text(s.engine.kv)+s.cfg.Board.Exposition())
}
