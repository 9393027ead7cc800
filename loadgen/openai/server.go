package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// maxReply bounds the reply to a call, in bytes. The ids of a million tokens have 7 million bytes,
// and many calls run at once.
const maxReply = 16 << 20

// The calls of the profiler, which are the only ones without a body that vLLM's client makes.
const (
	startProfile = "/start_profile"
	stopProfile  = "/stop_profile"
)

// A Server makes the calls of a serving endpoint other than streams. Each method makes one call,
// until its context ends. An error wraps a *metrics.Failure, unless it is about the reply's JSON.
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
	text, err := s.read(ctx, s.metricsPath(), nil)
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
// If the server has no such call, the error is a metrics.Failure of class Status with status 404.
func (s *Server) ResetPrefixCache(ctx context.Context) error {
	_, err := s.read(ctx, "/reset_prefix_cache", nothing)
	return err
}

// StartProfile starts the server's profiler, by POST /start_profile. The error is like
// ResetPrefixCache's.
func (s *Server) StartProfile(ctx context.Context) error {
	_, err := s.read(ctx, startProfile, nothing)
	return err
}

// StopProfile stops the server's profiler, which then writes its profile, by POST /stop_profile.
// That may take minutes.
func (s *Server) StopProfile(ctx context.Context) error {
	_, err := s.read(ctx, stopProfile, nothing)
	return err
}

// Sleep puts vLLM to sleep, by POST /sleep: level 1 keeps the weights in the host's memory, level 2
// drops them. The server needs --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1; without them, the error
// is a metrics.Failure of class Status with status 404.
func (s *Server) Sleep(ctx context.Context, level int) error {
	_, err := s.read(ctx, "/sleep?level="+strconv.Itoa(level), nothing)
	return err
}

// WakeUp wakes the server from sleep at a level, by POST /wake_up. After level 2, it makes room for the
// weights, loads them again and then makes room for the KV cache, as vLLM's documentation says:
// docs.vllm.ai/en/latest/features/sleep_mode.html.
func (s *Server) WakeUp(ctx context.Context, level int) error {
	if level < 2 {
		_, err := s.read(ctx, "/wake_up", nothing)
		return err
	}
	_, err := s.read(ctx, "/wake_up?tags=weights", nothing)
	if err == nil {
		_, err = s.read(ctx, "/collective_rpc", pyjson.Object{{Key: "method", Value: "reload_weights"}})
	}
	if err == nil {
		_, err = s.read(ctx, "/wake_up?tags=kv_cache", nothing)
	}
	return err
}

// IsSleeping asks the server whether it sleeps, by GET /is_sleeping.
func (s *Server) IsSleeping(ctx context.Context) (bool, error) {
	var reply struct {
		Sleeping *bool `json:"is_sleeping"`
	}
	if err := s.call(ctx, "/is_sleeping", nil, &reply); err != nil {
		return false, err
	}
	if reply.Sleeping == nil {
		return false, s.lacks("/is_sleeping", "is_sleeping")
	}
	return *reply.Sleeping, nil
}

// lacks says that a reply does not have vLLM's shape: other servers have calls of the same names.
func (s *Server) lacks(path, field string) error {
	return record.Failf(record.Malformed, "the reply of %s%s has no %q", s.URL, path, field)
}

// call decodes the reply's JSON into v.
func (s *Server) call(ctx context.Context, path string, body pyjson.Object, v any) error {
	text, err := s.read(ctx, path, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("reading the reply of %s%s: %s", s.URL, path, unexpected(err))
	}
	return nil
}

// unexpected says why encoding/json rejected some JSON, in the words of JSON instead of Go.
func unexpected(err error) string {
	odd, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return record.Shorten(err.Error())
	}
	what, found := "it", odd.Value
	if odd.Field != "" {
		what = strconv.Quote(odd.Field)
	}
	found, _, _ = strings.Cut(found, " ") // for a number, it has the digits as well
	want := map[reflect.Kind]string{reflect.Struct: "object", reflect.Slice: "array",
		reflect.String: "string"}[odd.Type.Kind()]
	return fmt.Sprintf("%s is of type %s, not %s", what, found, cmp.Or(want, "number"))
}

// read returns the body of a reply with status 200. Its errors name the URL.
func (s *Server) read(ctx context.Context, path string, body pyjson.Object) ([]byte, error) {
	text, err := s.ask(ctx, path, body)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", s.URL, path, err)
	}
	return text, nil
}

func (s *Server) ask(ctx context.Context, path string, body pyjson.Object) ([]byte, error) {
	if s.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Limit, record.Failf(record.Timeout, "no answer within %v", s.Limit))
		defer cancel()
	}
	reply, err := s.do(ctx, path, body)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, refusal.Of(reply, reply.Body)
	}
	if err := wire.Unreadable(reply); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, wire.CutOff(ctx, err)
	case len(text) > maxReply:
		return nil, record.Failf(record.Malformed, "the reply is longer than %d MiB", maxReply>>20)
	}
	return text, nil
}

// nothing is the body of a call that posts nothing.
var nothing = pyjson.Object{}

// do posts body, or gets if there is no body.
func (s *Server) do(ctx context.Context, path string, body pyjson.Object) (*http.Response, error) {
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
	}
	if len(body) > 0 {
		content = pyjson.Append(nil, body)
	}
	t := &wire.Trace{Epoch: time.Now()}
	url := strings.TrimSuffix(s.URL, "/") + path
	if s.Query != "" {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		url += mark + s.Query
	}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, t.Hooks()), method, url, bytes.NewReader(content))
	if err != nil {
		return nil, record.Failf(record.Connect, "%w", err)
	}
	if s.Header != nil {
		r.Header = s.Header.Clone()
	}
	switch {
	case len(content) > 0:
	case path == startProfile || path == stopProfile:
		r.Header.Set("Content-Type", "application/octet-stream") // as aiohttp for vLLM's client
	default:
		r.Header.Del("Content-Type") // describes the body
	}
	reply, err := exchange.RoundTrip(s.Transport, r)
	if err != nil {
		return nil, t.Failure(ctx, err)
	}
	wire.Unpack(reply)
	return reply, nil
}
