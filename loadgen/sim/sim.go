// Package sim is an OpenAI-compatible server that behaves like vLLM without a model: an
// http.Handler for trying out and testing a load generator.
//
// Behind the handlers is one engine with a batch. It works in steps: a step takes some time, all
// its tokens appear at its end, and the next step is composed of what is running and what is
// waiting. All latencies follow from that, as on a GPU; nothing else sleeps. The text is random
// words of a tokenizer, the same for the same prompt.
//
// A Config is where the rooms below meet: speed says what a step takes, steps has the engine, words has the
// text, and faults has what goes wrong. The package itself has what speaks HTTP, and dry runs, in which the
// same engine works without it.
//
// All time comes from package time, so in a testing/synctest bubble a test can compute every
// instant beforehand and compare for equality. On request the server misbehaves, in the ways that
// faults.Help lists.
//
// Like vLLM, the server sends a stream's response headers as soon as it has accepted the request:
// the first byte says nothing about the first token.
package sim

import (
	"net/http"
	"time"

	"github.com/servebench/servebench/loadgen/sim/embeddings"
	"github.com/servebench/servebench/loadgen/sim/messages"
	"github.com/servebench/servebench/loadgen/sim/ollama"
	"github.com/servebench/servebench/loadgen/sim/responses"
	"github.com/servebench/servebench/loadgen/sim/sleep"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/loadgen/sim/transcripts"
	"github.com/servebench/servebench/loadgen/sim/words"
)

// A Server is the simulated server. It is an http.Handler, safe for concurrent use, and must run in
// a net/http server: some faults end a connection by panicking with http.ErrAbortHandler.
type Server struct {
	cfg        Config
	reader     *reader
	vocabulary *words.Vocabulary
	created    int64 // Unix time shown by /v1/models
	mux        *http.ServeMux
	engine     *steps.Loop
	nap        *sleep.Mode
	numbers    numbering
}

// New starts a server. Close ends it.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	pool, err := cfg.Pool.open()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	nap := sleep.New(cfg.SleepMode.Times)
	settings := cfg.engineSettings()
	settings.KV.Pool, settings.Started = pool, began
	s := &Server{
		cfg:        cfg,
		reader:     &reader{&cfg},
		vocabulary: words.New(cfg.Tokenizer),
		created:    began.Unix(),
		mux:        http.NewServeMux(),
		engine:     steps.Start(settings, nap),
		nap:        nap,
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
	if cfg.SleepMode.On {
		s.nap.Handle(s.mux)
	}
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close stops the engine and waits for it. Requests in flight are cut and later ones get status
// 503; their handlers belong to the http.Server.
func (s *Server) Close() { s.engine.Close() }
