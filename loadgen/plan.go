package loadgen

import (
	"cmp"
	"context"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
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
	// that the Plan itself is the only one. Of a target's plan Abort, Shard, Repeat,
	// SoloFirst and the limits of the run (Deadline, Drain) have no effect.
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
		c.Workload.Dataset = cmp.Or(c.Workload.Dataset, "random")
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

// chat says whether the API is that of chats.
func (s *Server) chat() bool { return s.Backend == "openai-chat" }

// Traffic says when requests are sent.
type Traffic struct {
	// RequestRate is in requests a second; +Inf sends all at once, and so does 0. With a
	// RampUp or a Curve it must be one of the two.
	RequestRate float64

	// Burstiness is the shape of the gamma distribution of the gaps: 1, which 0 means, too,
	// is a Poisson process, less is burstier, +Inf is even.
	Burstiness float64

	// MaxConcurrency bounds the requests in flight; nil for no limit.
	MaxConcurrency *int

	Rule   arrivals.Rule
	RampUp *metrics.RampUp

	// Curve is a rate that changes over time; nil for a constant one.
	Curve *arrivals.Curve

	// Duration is from when on nothing is sent; 0 for no limit.
	Duration time.Duration

	// Counted says that the load has no more than Workload.NumPrompts, whatever time there
	// is. Otherwise a load with a Duration or a Curve has as many as its time takes.
	Counted bool

	// WarmUp is how long the same kind of load goes before the measured one.
	WarmUp time.Duration

	// Warmups are requests before the measured ones.
	Warmups int

	// ReadyCheck is how long to wait for the server; 0 does not check.
	ReadyCheck time.Duration

	// Warm opens the connections before the clock starts.
	Warm bool

	// Delay is the time before the first request.
	Delay time.Duration

	// Seed is of the arrival times; nil for the Workload's.
	Seed *int64

	// ProbeRate is in probes a second, less what their answers take; 0 for none.
	ProbeRate float64

	// Retries is how many times a failed request is sent again at most.
	Retries int

	// Profile has the server profile the load.
	Profile bool
}

// Workload says what is sent.
type Workload struct {
	// Dataset is its name, as in --dataset-name; empty means random.
	Dataset string

	// Source is what is sent, up to NumPrompts, in place of a dataset; nil for that. Dataset
	// may name it. Without a Server.Tokenizer, the server counts tokens. A run whose Source
	// ends early is incomplete.
	Source dataset.Source

	// Path is of the dataset's file.
	Path string

	Seed int64

	// NumPrompts is how many; for a file, 0 or less means all.
	NumPrompts int

	// DisableShuffle keeps the order of the dataset's file.
	DisableShuffle bool

	// NoOversample does not repeat a dataset that has fewer than NumPrompts.
	NoOversample bool

	// RequestIDPrefix is what ids of requests begin with; empty for bench-<8 random hex digits>-.
	RequestIDPrefix string

	// ShareGPTLen is how many tokens each answer of sharegpt has; nil for the length of the
	// recorded one.
	ShareGPTLen *int

	// Of single datasets only what they have of their own counts: their Options are the
	// Workload's.
	Random           dataset.Random
	Custom           dataset.Custom
	PrefixRepetition dataset.PrefixRepetition
	Sonnet           dataset.Sonnet
	SpecBench        dataset.SpecBench
	SpeedBench       dataset.SpeedBench
	TimedTrace       dataset.TimedTrace

	// SkipTemplate sends prompts without the chat template.
	SkipTemplate   bool
	TemplateKwargs *jinja.Kwargs

	// SelfTimed says that requests are due when the dataset says.
	SelfTimed bool

	// TokenIDs sends token ids instead of text, which needs no tokenizer.
	TokenIDs bool

	// VocabSize bounds the ids when there is no tokenizer; 0 means 32000.
	VocabSize int
}

// Sampling says what is asked of the model beside the prompt.
type Sampling struct {
	// Temperature is also in ExtraBody; nil leaves it to the server.
	Temperature *float64

	// IgnoreEOS has answers go on to their full length.
	IgnoreEOS bool

	// Logprobs are asked for, for each token; nil for none.
	Logprobs *int

	// ExtraBody is merged into every body.
	ExtraBody pyjson.Object

	// UsageAlways asks for token counts in every chunk.
	UsageAlways bool

	// PlainText sends the content of a chat's messages as a string.
	PlainText bool

	// Drop are members that no body has.
	Drop []string
}

// exact says that an answer is to have all tokens that the dataset asks for: by
// ignore_eos, with nothing in the body that has it end elsewhere.
func (s *Sampling) exact() bool {
	return s.IgnoreEOS && !s.ownLength() && !s.drops("ignore_eos") && !s.sends("ignore_eos", "stop", "stop_token_ids")
}

// ownLength says that the body has a bound on the answer that is not the dataset's, or
// none, or asks for several answers, whose tokens count together.
func (s *Sampling) ownLength() bool {
	bounds := []string{"max_tokens", "max_completion_tokens"}
	return s.drops(bounds...) || s.sends(append(bounds, "n", "best_of")...)
}

// sends says whether one of the members was given for the body.
func (s *Sampling) sends(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, given := s.ExtraBody.Get(key)
		return given
	})
}

// drops says whether one of the members is kept out of the body.
func (s *Sampling) drops(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(s.Drop, key) })
}

// Watch says what is sampled beside the load.
type Watch struct {
	// Server samples the server's /metrics.
	Server bool

	// URLs are of the server's replicas, without /metrics at their ends; nil for the server itself.
	URLs []string

	// Every is how often the server is sampled.
	Every time.Duration

	// GPU is NvidiaSMI, or the URL of a DCGM exporter without /metrics; empty for nothing.
	GPU string

	// GPUs are the indexes of those that nvidia-smi is asked for, as 0,1; empty for all.
	GPUs string
}

// NvidiaSMI is the program that tells of GPUs, and the word for it in Watch.GPU.
const NvidiaSMI = "nvidia-smi"

// any says whether anything is sampled.
func (w *Watch) any() bool { return w.Server || w.GPU != "" }

// Limits are of time; 0 means none.
type Limits struct {
	// Connect is for opening a connection, TLS included.
	Connect time.Duration

	// FirstByte is from sending a request to the first byte of its answer.
	FirstByte time.Duration

	// Stall is between two chunks.
	Stall time.Duration

	// Total is for one request from start to end.
	Total time.Duration

	// Tail is for requests in flight once the last was sent.
	Tail time.Duration

	// Deadline is for all of the run, from when the clock starts.
	Deadline time.Duration

	// Drain is for requests in flight when the run is interrupted.
	Drain time.Duration

	// Call is for a call that is not part of the load; 0 means ten seconds.
	Call time.Duration
}

// Report says what the Summaries of a run have in them.
type Report struct {
	// Metrics are the latencies that a block prints, of ttft, tpot, itl and e2el.
	Metrics []string

	// Percentiles are those of them, from 0 to 100.
	Percentiles []float64

	// Goodput are the limits that a good request keeps.
	Goodput []metrics.SLO

	// Definitions are those of the release of vLLM by which answers are counted; empty
	// means the latest's.
	Definitions metrics.Definitions

	// Label and Metadata name the run in result files. SoloLabel is the Label of a target
	// that is loaded alone; empty for the same.
	Label     string
	SoloLabel string
	Metadata  []metrics.KV
}

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
