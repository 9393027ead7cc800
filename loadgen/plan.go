package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/backend"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
)

// A Plan says what to send to which server, when, and what to watch during the load. Run does not
// change it, so it can run several times.
type Plan struct {
	Server   Server
	Workload Workload
	Traffic  Traffic
	Sampling Sampling
	Limits   Limits
	Watch    Watch
	Report   Report
	Shard    Shard
	Abort    AbortRule

	// Target names the server among several targets; empty for a single one.
	Target string

	// Targets are loaded together, on one clock, each by its own plan. Nil means that the Plan
	// itself is the only target. These settings always come from the Plan itself: Shard, Abort,
	// Repeat, SoloFirst, Pairs, Version, Selftest, the limits Deadline and Drain, the GPUs to watch, and
	// where records go.
	Targets []*Plan

	// SoloFirst loads each target alone before all of them together; every second repeat reverses
	// the order.
	SoloFirst bool

	// Pairs also loads each pair of targets, after the single ones, if SoloFirst is set. With two
	// targets the only pair is all of them, which is loaded once.
	Pairs bool

	// Backward begins with the reversed order.
	Backward bool

	// Repeat is the number of repeats, each with different prompts; 0 means one.
	Repeat int

	// Keep says what the run keeps besides its Summaries.
	Keep Keep

	// Version is the program's version, for the headers of record streams. Commit is the commit from
	// which it was built; empty if unknown.
	Version, Commit string

	// Selftest, if set, returns what a selftest measured on this machine; nil if there was none.
	Selftest func() (*metrics.Selftest, error)

	// Flags are the command's flags, without secrets, for the headers of records.
	Flags []metrics.KV
}

// complete fills in the defaults that zero values mean.
func (p *Plan) complete() *Plan {
	c := *p
	c.Repeat = max(c.Repeat, 1)
	c.Server.Backend = cmp.Or(c.Server.Backend, "openai")
	if b := c.Server.backend(); b != nil && c.Server.Endpoint == "" {
		c.Server.Endpoint = b.Endpoint
	}
	c.Workload.VocabSize = cmp.Or(c.Workload.VocabSize, 32000)
	if c.Workload.Source == nil {
		c.Server.BaseURL = strings.TrimRight(c.Server.BaseURL, "/")
		c.Server.Secrets = c.Server.secrets()
		c.Server.Secrets.AddMembers(c.Sampling.ExtraBody)
		c.Workload.Dataset = cmp.Or(c.Workload.Dataset, "random")
		if w := &c.Workload; w.NumPrompts == 0 && w.Source == nil && !w.Has(CanSendAll) {
			w.NumPrompts = 1000
		}
		c.Sampling.IgnoreEOS = c.Sampling.IgnoreEOS || c.Workload.Has(ExactOutput) && !c.Server.Pooling()
	}
	c.Traffic.Rule = cmp.Or(c.Traffic.Rule, arrivals.SinceV010)
	c.Traffic.Burstiness = cmp.Or(c.Traffic.Burstiness, 1)
	c.Traffic.RequestRate = cmp.Or(c.Traffic.RequestRate, math.Inf(1))
	c.Limits.Call = cmp.Or(c.Limits.Call, 10*time.Second)
	c.Watch.Every = cmp.Or(c.Watch.Every, time.Second)
	c.Report.Definitions = cmp.Or(c.Report.Definitions, metrics.Latest)
	if c.Report.Metrics == nil {
		c.Report.Metrics = c.Latencies()
	}
	if c.Report.Percentiles == nil {
		c.Report.Percentiles = []float64{99}
	}
	c.Targets = nil
	for _, target := range p.Targets {
		c.Targets = append(c.Targets, target.complete())
	}
	return &c
}

// check refuses invalid settings.
func (p *Plan) check() error {
	if p.Server.backend() == nil {
		return fmt.Errorf("backend %q: it must be one of %s", p.Server.Backend, strings.Join(backend.Names(), ", "))
	}
	if p.Workload.Sessions.Answers == Stored && !p.Server.responses() {
		return errors.New("answers that the server keeps: only the backend openai-responses has them")
	}
	if p.Traffic.ProbeRate > 0 {
		if err := p.unprobed(); err != nil {
			return err
		}
	}
	if p.Workload.Source == nil && !slices.Contains(Datasets, p.Workload.Dataset) {
		return fmt.Errorf("dataset %q: it must be one of %s", p.Workload.Dataset, strings.Join(Datasets, ", "))
	}
	return nil
}

// Server says where requests go, and in which protocol.
type Server struct {
	// Backend is the name of one of backend.All; empty means openai.
	Backend string

	// BaseURL is http://host:port, with a path if the server has one, and without a slash at its
	// end.
	BaseURL string

	// Query goes with every call, without its question mark; empty for no query.
	Query string

	// Endpoint is the path of the API, with a slash in front; empty for the Backend's default.
	Endpoint string

	// Asked is the query of the endpoint only, without its question mark.
	Asked string

	// Headers are sent with every request. No two have the same name.
	Headers []metrics.KV

	// SessionHeader names the header with the id of the session, for sessions of several turns; empty
	// for X-Session-ID.
	SessionHeader string

	// Trace sends the id of each request as W3C trace context, too, so that the server's spans have
	// it; see docs/waterfall.md.
	Trace bool

	// Insecure skips the verification of TLS certificates.
	Insecure bool

	TLS   wire.CredentialFiles
	HTTP2 bool

	// NetHTTP leaves HTTP/1.1 to package net/http; see wire.Connections.
	NetHTTP bool

	// Handler is a server in this process, reached through memory; nil for a server at BaseURL. A
	// run with a Handler waits by package time, so a testing/synctest bubble can hold it. Its
	// Summaries have no Evidence, because the evidence would include the server.
	Handler http.Handler

	// Environment is what the caller gave the server's process, as NAME=VALUE; nil if the caller has not
	// started it.
	Environment []string

	// Dial, if set, opens connections instead of dialing the URL's host by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Socket is the path of a Unix socket to connect to; empty for the URL's host.
	Socket string

	// Start is the start of the server, if the caller knows it: its ID, By and Began count. Nil means
	// that the run finds out what it can.
	Start *metrics.ServerStart

	// Model is the model's name; empty for the first model that the server lists.
	Model string

	// ServedName is the model's name in requests; empty for Model.
	ServedName string

	// APIKey is sent as a bearer token; empty for none.
	APIKey string

	// Secrets are masked in everything that the run shows.
	Secrets Secrets

	// Tokenizer is a file, a folder, a name in the Hugging Face cache, "server" to ask the server,
	// or stub-N for N made-up words. If it is empty, the run tries the model's tokenizer in the
	// cache, then the server's, then none.
	Tokenizer string

	// SkipTokenizer uses no tokenizer: the server counts the lengths.
	SkipTokenizer bool
}

// URL is where requests go.
func (s *Server) URL() string {
	url := s.BaseURL + s.Endpoint
	if query := strings.Trim(s.Query+"&"+s.Asked, "&"); query != "" {
		url += "?" + query
	}
	return url
}

// secrets returns the given secrets, the key and the values of headers.
func (s *Server) secrets() Secrets {
	all := s.Secrets.clone()
	if all.Add(s.APIKey); s.APIKey != "" && len(s.APIKey) < MinSecret {
		all.Add("Bearer " + s.APIKey)
	}
	for _, h := range s.Headers {
		all.AddHeader(h.Key, h.Value)
	}
	return all
}

// backend is the API at the server.
func (s *Server) backend() *backend.Backend { return backend.Find(s.Backend) }

// chat reports whether the backend is a chat API.
func (s *Server) chat() bool { return s.Backend == "openai-chat" }

// responses reports whether the backend is the Responses API.
func (s *Server) responses() bool { return s.Backend == "openai-responses" }

// Pooling reports whether the backend's answers are numbers instead of text.
func (s *Server) Pooling() bool {
	api := s.backend()
	return api != nil && api.Pooling
}

// Whole reports whether answers are not streamed, so that they have no TTFT, TPOT or ITL.
func (p *Plan) Whole() bool {
	body := p.body("")
	return p.Server.Pooling() || !body.Streams()
}

// Latencies are the names of the latencies that vLLM's client prints by default: of answers that are
// not streamed, E2EL.
func (p *Plan) Latencies() []string {
	if p.Whole() {
		return []string{"e2el"}
	}
	return []string{"ttft", "tpot", "itl"}
}

// messages reports whether the backend takes messages and text, but no token ids.
func (s *Server) messages() bool { return s.backend().Messages }

// Config is the plan as the run's records, block and result file show it. Model and Tokenizer are
// empty if the server is to name them.
func (p *Plan) Config() metrics.Config {
	c := metrics.Config{
		Backend:     p.Server.Backend,
		BaseURL:     p.Server.BaseURL,
		Endpoint:    p.Server.Endpoint,
		Model:       p.Server.Model,
		Tokenizer:   cmp.Or(p.Server.Tokenizer, p.Server.Model),
		Dataset:     p.Workload.Dataset,
		Seed:        p.Workload.Seed,
		NumPrompts:  p.Workload.NumPrompts,
		RequestRate: p.Traffic.RequestRate,
		SelfTimed:   p.Workload.SelfTimed,
		Burstiness:  p.Traffic.Burstiness,
		RampUp:      p.Traffic.RampUp,
		Duration:    p.Traffic.Duration.Seconds(),
		Whole:       p.Whole(),
		IgnoreEOS:   p.Sampling.exact() && !p.Server.Pooling(),
		OwnLength:   p.Sampling.ownLength(),
		Answers:     p.Sampling.answers(),
		Label:       p.Report.Label,
		Metadata:    p.Report.Metadata,
		Price:       p.Report.Price,
		NumGPUs:     p.Report.GPUs,
		Goodput:     p.Report.Goodput,
		Metrics:     p.Report.Metrics,
		Percentiles: p.Report.Percentiles,
	}
	if p.Traffic.Curve != nil {
		c.RateCurve = p.Traffic.Curve.String()
	}
	if p.Endless() {
		c.NumPrompts = 0
	}
	if c.SkipTokenizer = p.Server.SkipTokenizer; c.SkipTokenizer {
		c.Tokenizer = ""
	}
	if p.Traffic.MaxConcurrency != nil {
		c.MaxConcurrency = *p.Traffic.MaxConcurrency
	}
	if p.Traffic.MaxSessions != nil {
		c.MaxSessions = *p.Traffic.MaxSessions
	}
	return c
}
