package openai

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics/pyjson"
)

// The calls of the profiler, which are the only ones without a body that vLLM's client makes.
const (
	startProfile = "/start_profile"
	stopProfile  = "/stop_profile"
)

// A Server makes the calls of a serving endpoint other than streams. Each method makes one call,
// until its context ends. An error wraps a *record.Failure, unless it is about the reply's JSON.
// The methods are safe for concurrent use. A Server must not be copied after first use.
type Server struct {
	URL       string            // base of all paths, without a slash at its end
	Query     string            // in the URL of every call, without a question mark; empty for none
	Header    http.Header       // sent with every call; see exchange.Headers
	Transport http.RoundTripper // see wire.Connections; nil means http.DefaultTransport
	Limit     time.Duration     // for a call from start to end; 0 means no limit

	wantsContent atomic.Bool // /tokenize returned no ids for a prompt: see Tokenize
}

// With is the same server, over another transport and with another limit.
func (s *Server) With(transport http.RoundTripper, limit time.Duration) *Server {
	return &Server{URL: s.URL, Query: s.Query, Header: s.Header, Transport: transport, Limit: limit}
}

// Metrics returns the text of GET /metrics, in Prometheus' format.
func (s *Server) Metrics(ctx context.Context) (string, error) {
	text, err := s.get(s.metricsPath()).read(ctx)
	return string(text), err
}

// metricsPath is what follows the URL of the metrics: nothing, if the URL itself is a page of metrics
// with another name, such as /engine_metrics of SGLang's router.
func (s *Server) metricsPath() string {
	if strings.HasSuffix(s.URL, "_metrics") {
		return ""
	}
	return "/metrics"
}

// ResetPrefixCache makes the server forget the prompts that it knows, by POST /reset_prefix_cache.
// If the server has no such call, the error is a record.Failure of class Status with status 404.
func (s *Server) ResetPrefixCache(ctx context.Context) error {
	_, err := s.post("/reset_prefix_cache", nothing).read(ctx)
	return err
}

// StartProfile starts the server's profiler, by POST /start_profile. The error is like
// ResetPrefixCache's.
func (s *Server) StartProfile(ctx context.Context) error {
	_, err := s.post(startProfile, nothing).read(ctx)
	return err
}

// StopProfile stops the server's profiler, which then writes its profile, by POST /stop_profile.
// That may take minutes.
func (s *Server) StopProfile(ctx context.Context) error {
	_, err := s.post(stopProfile, nothing).read(ctx)
	return err
}

// Sleep puts vLLM to sleep, by POST /sleep: level 1 keeps the weights in the host's memory, level 2
// drops them. The server needs --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1; without them, the error
// is a record.Failure of class Status with status 404.
func (s *Server) Sleep(ctx context.Context, level int) error {
	_, err := s.post("/sleep?level="+strconv.Itoa(level), nothing).read(ctx)
	return err
}

// WakeUp wakes the server from sleep at a level, by POST /wake_up. After level 2, it makes room for the
// weights, loads them again and then makes room for the KV cache, as vLLM's documentation says:
// docs.vllm.ai/en/latest/features/sleep_mode.html.
func (s *Server) WakeUp(ctx context.Context, level int) error {
	if level < 2 {
		_, err := s.post("/wake_up", nothing).read(ctx)
		return err
	}
	_, err := s.post("/wake_up?tags=weights", nothing).read(ctx)
	if err == nil {
		_, err = s.post("/collective_rpc", pyjson.Object{{Key: "method", Value: "reload_weights"}}).read(ctx)
	}
	if err == nil {
		_, err = s.post("/wake_up?tags=kv_cache", nothing).read(ctx)
	}
	return err
}

// IsSleeping asks the server whether it sleeps, by GET /is_sleeping.
func (s *Server) IsSleeping(ctx context.Context) (bool, error) {
	var reply struct {
		Sleeping *bool `json:"is_sleeping"`
	}
	c := s.get("/is_sleeping")
	if err := c.decode(ctx, &reply); err != nil {
		return false, err
	}
	if reply.Sleeping == nil {
		return false, c.lacks("is_sleeping")
	}
	return *reply.Sleeping, nil
}
