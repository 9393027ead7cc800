package steps

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/sim/exposition"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
)

// stats is the content of the metrics page: what the engine really did.
type stats struct {
	labels  string
	started time.Time // of the server

	mu                 sync.Mutex
	running, waiting   int
	prompt, generation int
	preemptions        int
	finishes           map[string]int
	drafts             drafts

	latencies              latencies
	promptSize, outputSize *exposition.Histogram
}

func newStats(cfg *Settings) *stats {
	sizes := sizeBounds(cfg.ModelLen)
	return &stats{
		started:  cfg.Started,
		labels:   fmt.Sprintf("engine=\"0\",model_name=%q", cfg.Model),
		drafts:   newDrafts(cfg.Speculative),
		finishes: map[string]int{Stop: 0, Length: 0, Abort: 0},

		latencies:  newLatencies(),
		promptSize: exposition.NewHistogram("vllm:request_prompt_tokens", "Number of prompt tokens of a request.", sizes),
		outputSize: exposition.NewHistogram("vllm:request_generation_tokens", "Number of output tokens of a request.", sizes),
	}
}

// sizeBounds are 1, 2, 5, 10, 20, 50 … up to a limit.
func sizeBounds(limit int) []float64 {
	var bounds []float64
	for power := 1; power <= limit; power *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if digit*power <= limit {
				bounds = append(bounds, float64(digit*power))
			}
		}
	}
	return bounds
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
	s.finishes[Abort] += running + waiting
}

// draft lets a sequence draft tokens and returns how many were accepted.
func (s *stats) draft(chance *rand.Rand) (accepted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drafts.draw(chance)
}

// produced counts n tokens of a sequence. It is called before the sequence's instants are
// updated.
func (s *stats) produced(seq *Sequence, n int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation += n
	if s.latencies.produced(seq, n, now); seq.out == n {
		s.prompt += seq.Prompt
	}
}

func (s *stats) finished(seq *Sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.finishes[seq.Finish]++
	s.latencies.finished(seq)
	s.promptSize.Observe(float64(seq.Prompt))
	s.outputSize.Observe(float64(seq.out))
}

// text is the exposition.
func (s *stats) text(kv *kvcache.Cache) string {
	queries, hits, usage := kv.Counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &exposition.Text{Labels: s.labels}
	x.Metric("vllm:num_requests_running", "Number of requests in the batch.", "gauge", float64(s.running))
	x.Metric("vllm:num_requests_waiting", "Number of requests waiting to be admitted.", "gauge", float64(s.waiting))
	x.Metric("vllm:prompt_tokens_total", "Number of prompt tokens processed.", "counter", float64(s.prompt))
	x.Metric("vllm:generation_tokens_total", "Number of output tokens generated.", "counter", float64(s.generation))
	x.Head("vllm:request_success_total", "Number of finished requests.", "counter")
	for _, reason := range []string{Stop, Length, Abort} {
		x.Sample("vllm:request_success_total", `finished_reason="`+reason+`"`, float64(s.finishes[reason]))
	}
	for _, h := range append(s.latencies.all(), s.promptSize, s.outputSize) {
		x.Histogram(h)
	}
	s.drafts.write(x)
	if kv.Size() > 0 { // a cache without a size has no share in use
		x.Metric("vllm:kv_cache_usage_perc", "Share of the KV cache's blocks in use; 1 is all.", "gauge", usage)
		x.Head("vllm:cache_config_info", "Information of the cache.", "gauge")
		x.Sample("vllm:cache_config_info", fmt.Sprintf(`block_size="%d",num_gpu_blocks="%d"`, kvcache.BlockSize,
			kv.Size()), 1)
	}
	x.Metric("vllm:num_preemptions_total", "Number of times that a request lost its blocks to another.", "counter",
		float64(s.preemptions))
	x.Metric("vllm:prefix_cache_queries_total", "Number of prompt tokens looked up in the prefix cache.", "counter",
		float64(queries))
	x.Metric("vllm:prefix_cache_hits_total", "Number of prompt tokens found in the prefix cache.", "counter",
		float64(hits))
	x.Started(s.started)
	return x.String()
}
