package loadgen

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
)

// A Plan says what is sent to which server, when, and what is watched meanwhile.
// Run does not change it, and it may be run several times.
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

	// Target names the server among several; empty for a single one.
	Target string

	// Targets are loaded together, on one clock, each by a plan of its own. Nil means
	// that the Plan itself is the only one. What is the whole run's to say is taken from
	// the Plan itself: Shard, Abort, Repeat, SoloFirst, Version, Vouched, the limits
	// Deadline and Drain, the GPUs that are watched, and where records go.
	Targets []*Plan

	// SoloFirst loads each target alone before all together, in every second repeat
	// after that.
	SoloFirst bool

	// Backward begins with all together instead.
	Backward bool

	// Repeat is how often all is done, each time with other prompts; 0 means once.
	Repeat int

	// Keep says what is kept of the run beside its Summaries.
	Keep Keep

	// Version is of the program, in headers of record streams.
	Version string

	// Vouched, if set, is what a selftest found of this machine; nil for none.
	Vouched func() (*metrics.Vouched, error)

	// Flags are what the headers of records show of how the run was asked for, without
	// secrets.
	Flags []metrics.KV
}

// complete is the plan with what its zero values stand for.
func (p *Plan) complete() *Plan {
	c := *p
	c.Repeat = max(c.Repeat, 1)
	c.Server.Backend = cmp.Or(c.Server.Backend, "openai")
	if c.Server.Endpoint == "" {
		c.Server.Endpoint = "/v1/completions"
		if c.Server.chat() {
			c.Server.Endpoint = "/v1/chat/completions"
		}
	}
	c.Workload.VocabSize = cmp.Or(c.Workload.VocabSize, 32000)
	if c.Workload.Source == nil {
		c.Server.BaseURL = strings.TrimRight(c.Server.BaseURL, "/")
		c.Server.Secrets = c.Server.secrets()
		c.Workload.Dataset = cmp.Or(c.Workload.Dataset, "random")
		if w := &c.Workload; w.NumPrompts == 0 && w.Source == nil && !takesAll(w.Dataset) {
			w.NumPrompts = 1000
		}
		c.Sampling.IgnoreEOS = c.Sampling.IgnoreEOS || c.Workload.Dataset == "random"
	}
	c.Traffic.Rule = cmp.Or(c.Traffic.Rule, arrivals.SinceV010)
	c.Traffic.Burstiness = cmp.Or(c.Traffic.Burstiness, 1)
	c.Traffic.RequestRate = cmp.Or(c.Traffic.RequestRate, math.Inf(1))
	c.Limits.Call = cmp.Or(c.Limits.Call, 10*time.Second)
	c.Watch.Every = cmp.Or(c.Watch.Every, time.Second)
	c.Report.Definitions = cmp.Or(c.Report.Definitions, metrics.Latest)
	if c.Report.Metrics == nil {
		c.Report.Metrics = []string{"ttft", "tpot", "itl"}
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

// check refuses settings that mean nothing.
func (p *Plan) check() error {
	if !slices.Contains([]string{"openai", "vllm", "openai-chat"}, p.Server.Backend) {
		return fmt.Errorf("backend %q: it must be openai, vllm or openai-chat", p.Server.Backend)
	}
	if p.Workload.Source == nil && !slices.Contains(Datasets, p.Workload.Dataset) {
		return fmt.Errorf("dataset %q: it must be one of %s", p.Workload.Dataset, strings.Join(Datasets, ", "))
	}
	return nil
}

// Server says where requests go and in which protocol.
type Server struct {
	// Backend is openai, vllm (the same), or openai-chat; empty means openai.
	Backend string

	// BaseURL is http://host:port, with a path where the server has one, and no slash at
	// its end.
	BaseURL string

	// Query goes with every call, without its question mark; empty for none.
	Query string

	// Endpoint is the path of the API, with a slash in front; empty means the Backend's.
	Endpoint string

	// Asked is a query of the endpoint alone, without its question mark.
	Asked string

	// Headers are sent with every request. No two have the same name.
	Headers []metrics.KV

	// Insecure does not verify TLS certificates.
	Insecure bool

	TLS   wire.CredentialFiles
	HTTP2 bool

	// Handler is the server itself, reached through memory; nil for one at BaseURL. A run
	// with a Handler waits by package time, so it can be in a testing/synctest bubble, and
	// its Summaries have no Evidence: the server would be a part of what is watched.
	Handler http.Handler

	// Dial opens connections in place of TCP to the URL's host; nil for that.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Socket is the path of a Unix socket to connect to; empty for the URL's host.
	Socket string

	// Model is the model's name; empty for the first that the server lists.
	Model string

	// ServedName is the model's name in requests; empty for the Model's own.
	ServedName string

	// APIKey is sent as a bearer token; empty for none.
	APIKey string

	// Secrets are masked in all that the run shows of what the server says.
	Secrets Secrets

	// Tokenizer is a file, a folder, a name in the Hugging Face cache, "server" to ask the
	// server, or stub-N for one of N made-up words. Empty for the model's in the cache,
	// then the server's, then none.
	Tokenizer string

	// SkipTokenizer takes none: lengths are what the server counts.
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

// secrets are those that were given, the key and the values of headers.
func (s *Server) secrets() Secrets {
	all := slices.Clone(s.Secrets)
	if all.Add(s.APIKey); s.APIKey != "" && len(s.APIKey) < MinSecret {
		all.Add("Bearer " + s.APIKey)
	}
	for _, h := range s.Headers {
		all.AddHeader(h.Key, h.Value)
	}
	return all
}

// chat says whether the API is that of chats.
func (s *Server) chat() bool { return s.Backend == "openai-chat" }

// Config is what the run's records, block and result file say of the plan.
// The model and tokenizer are as asked for: empty when the server is to name
// them.
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
		Burstiness:  p.Traffic.Burstiness,
		RampUp:      p.Traffic.RampUp,
		Duration:    p.Traffic.Duration.Seconds(),
		IgnoreEOS:   p.Sampling.exact(),
		OwnLength:   p.Sampling.ownLength(),
		Label:       p.Report.Label,
		Metadata:    p.Report.Metadata,
		Goodput:     p.Report.Goodput,
		Metrics:     p.Report.Metrics,
		Percentiles: p.Report.Percentiles,
	}
	if c.SelfTimed = p.Workload.SelfTimed; c.SelfTimed {
		c.RequestRate = 0
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
	return c
}
