// Package sim is an OpenAI-compatible server that behaves like vLLM without a model: an
// http.Handler for trying out and testing a load generator.
//
// Behind the handlers is one engine with a batch. It works in steps: a step takes some time, all
// its tokens appear at its end, and the next step is composed of what is running and what is
// waiting. All latencies follow from that, as on a GPU; nothing else sleeps. The text is random
// words of a tokenizer, the same for the same prompt.
//
// All time comes from package time, so in a testing/synctest bubble a test can compute every
// instant beforehand and compare for equality. On request the server misbehaves, in the ways that
// FaultHelp lists.
//
// Like vLLM, the server sends a stream's response headers as soon as it has accepted the request:
// the first byte says nothing about the first token.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim/elastic"
	"github.com/servebench/servebench/loadgen/sim/embeddings"
	"github.com/servebench/servebench/loadgen/sim/gpupower"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/messages"
	"github.com/servebench/servebench/loadgen/sim/ollama"
	"github.com/servebench/servebench/loadgen/sim/responses"
	"github.com/servebench/servebench/loadgen/sim/sleep"
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/transcripts"
)

// A Config says what to simulate. Only Tokenizer is needed; the zero value of every other field
// means the default in its comment.
type Config struct {
	Model           string              // the model's root; "stub-32000" when empty
	ServedModelName string              // its name in the API; Model when empty
	Adapters        []string            // names of LoRA adapters, which answer as the model does
	Tokenizer       tokenizer.Tokenizer // counts the tokens of prompts and makes the text

	Cost   Cost    // the time of a step; DefaultCost() when zero
	Jitter float64 // standard deviation of the logarithm of a factor drawn for each step; 0 for none
	Seed   uint64  // of jitter, stalls, spells, text, output lengths and faults

	// FrontEnd is the time from a request's arrival until the engine gets it.
	FrontEnd time.Duration

	// Profile, if not nil, describes the server instead of Cost, Jitter and FrontEnd, which must be
	// zero. It also sets sizes that are zero here. It must not change any more.
	Profile *Profile

	GPU *GPU // shared with other servers; nil for a separate GPU
	// SMs is the most that the server may use of the GPU, as a part of it; 0 for Profile.SMs.Share.
	SMs float64

	// Board is the power of the GPU, which /metrics then reports as a DCGM exporter does; nil for none.
	Board *gpupower.Board

	MaxNumSeqs          int // requests in the batch at most; 256
	MaxNumBatchedTokens int // tokens in a step at most; 2048
	MaxModelLen         int // prompt and output tokens of a request at most; 32768
	MeanOutputLen       int // mean output length if nothing else ends the answer; 128

	NumGPUBlocks int // blocks of 16 tokens in the KV cache; 0 for no limit

	// PrefixCaching prefills only what no earlier prompt and output began with, in blocks of 16
	// tokens.
	PrefixCaching bool

	// PromptTokensDetails lets usage say how many prompt tokens were found in the cache. Like vLLM,
	// it says nothing if there were none.
	PromptTokensDetails bool

	Speculative Speculative // decode several tokens a step; off when zero
	Lead        Lead        // beginning of chat output; plain content when zero
	Faults      Faults      // how to misbehave; not at all when zero
	Slow        spans.Added // time added to each request; Dry adds none

	// PerRequestMetrics lets the last chunk with usage, and an answer that is not streamed, say how
	// long the engine took. The names are vLLM's.
	PerRequestMetrics bool

	// Memory, if not nil, has the memory of the KV cache in pages, for all servers that name it, and
	// NumGPUBlocks is all of it when zero. PoolFiles are the files in which the servers publish what
	// they hold, as kvcached does: New takes the first, Several one for each; none without files.
	// PoolLog is called with each state of the pool; it must not block.
	Memory    *elastic.Memory
	PoolFiles []string
	PoolLog   func(elastic.State)

	// SleepMode adds vLLM's calls that put the server to sleep and wake it up, which take Sleep.
	SleepMode bool
	Sleep     sleep.Times

	// Log, if not nil, is called by a request's handler when its answer is complete. It must be safe for
	// concurrent use.
	Log func(spans.Request)

	// Trace, if not nil, is called by the engine when a request leaves it. It must not block.
	Trace func(Trace)
}

// A Trace is what the engine did for one request. On a perfect network, the client sees each chunk
// at the instant of its last token.
type Trace struct {
	ID           string // x-request-id; empty when the request had none
	Session      string // x-session-id; empty when the request had none
	PromptTokens int
	Found        int         // of these, in the prefix cache when the request was first admitted
	Arrived      time.Time   // handed to the engine
	Admitted     time.Time   // taken into the batch; zero if it never was
	Tokens       []time.Time // when each output token appeared
	Finished     time.Time   // left the engine
	Finish       string      // length, stop or abort
}

// Speculative makes a decoding request draft Tokens tokens in each step. It keeps the longest
// accepted run, plus one token: several tokens in a chunk.
type Speculative struct {
	Tokens     int     // drafts in a step; 0 turns it off
	Acceptance float64 // chance that a draft token is accepted, if those before it were
}

// A Lead says that a chat answer begins with tokens that are not content. A chunk with tokens of
// both kinds is of the kind of its first token.
type Lead struct {
	Field  string // reasoning_content, reasoning or tool_calls
	Tokens int
}

// A Server is the simulated server. It is an http.Handler, safe for concurrent use, and must run in
// a net/http server: some faults end a connection by panicking with http.ErrAbortHandler.
type Server struct {
	cfg        Config
	reader     *reader
	vocabulary *vocabulary
	created    int64 // Unix time shown by /v1/models
	mux        *http.ServeMux
	engine     *engine
	stats      *stats
	chooser    *chooser
}

// New starts a server. Close ends it.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	pool, err := cfg.pool()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	st := newStats(&cfg)
	st.started = began
	s := &Server{
		cfg:        cfg,
		reader:     &reader{&cfg},
		chooser:    &chooser{faults: &cfg.Faults, seed: cfg.Seed},
		vocabulary: newVocabulary(cfg.Tokenizer),
		created:    began.Unix(),
		mux:        http.NewServeMux(),
		engine:     startEngine(&cfg, st, pool),
		stats:      st,
	}
	s.mux.HandleFunc("POST /v1/completions", s.completions)
	s.mux.HandleFunc("POST /v1/chat/completions", s.chatCompletions)
	s.mux.Handle("POST /v1/responses", &responses.Handler{Chat: http.HandlerFunc(s.chatCompletions)})
	s.mux.Handle("POST /v1/messages", &messages.Handler{Chat: http.HandlerFunc(s.chatCompletions)})
	own := &ollama.Handler{Chat: http.HandlerFunc(s.chatCompletions)}
	s.mux.Handle("POST /api/chat", own)
	s.mux.Handle("POST /api/generate", own)
	speech := &transcripts.Handler{Chat: http.HandlerFunc(s.chatCompletions)}
	s.mux.Handle("POST /v1/audio/transcriptions", speech)
	s.mux.Handle("POST /v1/audio/translations", speech)
	vectors := &embeddings.Handler{Completions: http.HandlerFunc(s.completions),
		Chat: http.HandlerFunc(s.chatCompletions), Dimensions: 1024}
	for _, path := range []string{"/v1/embeddings", "/embeddings", "/pooling", "/v1/rerank", "/rerank", "/v1/score",
		"/score"} {
		s.mux.Handle("POST "+path, vectors)
	}
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.mux.HandleFunc("POST /tokenize", s.tokenize)
	s.mux.HandleFunc("POST /detokenize", s.detokenize)
	s.mux.HandleFunc("GET /health", s.health)
	s.mux.HandleFunc("GET /version", s.version)
	s.mux.HandleFunc("GET /metrics", s.metrics)
	s.mux.HandleFunc("POST /reset_prefix_cache", s.resetPrefixCache)
	if cfg.SleepMode {
		s.engine.nap.Handle(s.mux)
	}
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close stops the engine and waits for it. Requests in flight are cut and later ones get status
// 503; their handlers belong to the http.Server.
func (s *Server) Close() { s.engine.close() }

func (c Config) complete() (Config, error) {
	if c.Tokenizer == nil {
		return c, fmt.Errorf("a simulated server needs a tokenizer")
	}
	if c.Tokenizer.VocabSize() <= len(c.Tokenizer.SpecialIDs()) {
		return c, fmt.Errorf("the tokenizer has no ordinary tokens")
	}
	c.Model = orElse(c.Model, "stub-32000")
	c.ServedModelName = orElse(c.ServedModelName, c.Model)
	if c.Profile == nil {
		c.Cost = orElse(c.Cost, DefaultCost())
		c.Profile = &Profile{FrontEnd: c.FrontEnd, Step: StepTime{Cost: c.Cost, Jitter: c.Jitter}}
	} else if c.Cost != (Cost{}) || c.Jitter != 0 || c.FrontEnd != 0 {
		return c, fmt.Errorf("a profile says what a step and the front end take: cost, jitter and front end must not say " +
			"it, too")
	}
	if c.SMs != 0 {
		profile := *c.Profile
		profile.SMs.Share, c.Profile = c.SMs, &profile
	}
	c.MaxNumSeqs = cmp.Or(c.MaxNumSeqs, c.Profile.MaxNumSeqs, 256)
	c.MaxNumBatchedTokens = cmp.Or(c.MaxNumBatchedTokens, c.Profile.MaxNumBatchedTokens, 2048)
	c.MaxModelLen = cmp.Or(c.MaxModelLen, c.Profile.MaxModelLen, 32768)
	c.MeanOutputLen = orElse(c.MeanOutputLen, 128)
	if c.Memory != nil {
		c.NumGPUBlocks = cmp.Or(c.NumGPUBlocks, c.Memory.Pages*c.Memory.Blocks)
	}
	return c, c.check()
}

func (c *Config) check() error {
	switch {
	case c.MaxNumSeqs < 1, c.MaxNumBatchedTokens < 1, c.MaxModelLen < 2, c.MeanOutputLen < 1:
		return fmt.Errorf("sizes must be positive, and the model length 2 or more")
	case c.MaxNumBatchedTokens < c.MaxNumSeqs*(1+c.Speculative.Tokens):
		return fmt.Errorf("max-num-batched-tokens (%d) must hold one decoding step of max-num-seqs (%d) requests, %d "+
			"tokens each",
			c.MaxNumBatchedTokens, c.MaxNumSeqs, 1+c.Speculative.Tokens)
	case c.NumGPUBlocks < 0 || c.NumGPUBlocks > 0 && c.NumGPUBlocks*kvcache.BlockSize < c.MaxModelLen+c.Speculative.Tokens:
		return fmt.Errorf("num-gpu-blocks-override (%d, of %d tokens each) must hold a request of max-model-len (%d)",
			c.NumGPUBlocks, kvcache.BlockSize, c.MaxModelLen)
	case c.Memory != nil && c.PrefixCaching:
		return fmt.Errorf("a pool of memory is not simulated together with prefix caching")
	case c.Speculative.Tokens < 0 || c.Speculative.Acceptance < 0 || c.Speculative.Acceptance > 1:
		return fmt.Errorf("draft tokens must not be negative, and acceptance must be from 0 to 1")
	}
	if fields := []string{"reasoning_content", "reasoning", "tool_calls"}; c.Lead != (Lead{}) &&
		(c.Lead.Tokens < 0 || !slices.Contains(fields, c.Lead.Field)) {
		return fmt.Errorf("chat output cannot begin with %d tokens of %q: the field may be %s", c.Lead.Tokens, c.Lead.Field,
			strings.Join(fields, ", "))
	}
	return errors.Join(c.Profile.check(), c.Faults.check())
}

// pool is the server's part of the memory; nil if it shares none.
func (c *Config) pool() (*elastic.Pool, error) {
	if c.Memory == nil {
		return nil, nil
	}
	file := ""
	if len(c.PoolFiles) > 0 {
		file = c.PoolFiles[0]
	}
	return c.Memory.Open(file, c.PoolLog)
}

func orElse[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
