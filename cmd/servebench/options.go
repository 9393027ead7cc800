package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// options is what `servebench run` was asked to do, checked and complete:
// defaults are in place and flags that stand for others are resolved. It is
// read-only once made.
type options struct {
	Server   serverOptions
	Traffic  trafficOptions
	Workload workloadOptions
	Sampling samplingOptions
	Watch    watchOptions
	Results  resultOptions
	Limits   limitOptions
	Shard    shardOptions

	Target    string     // name of the target; empty when there is only one
	Targets   []*options // of --target, one each; nil without
	SoloFirst bool       // load each target alone before all together, in every second repeat after that
	Repeat    int        // how often the whole is done; at least 1, and 2 by default with SoloFirst
	Abort     abortRule  // when so many requests have failed that the rest are not sent

	// Flags are all flags with their values, in the order of their
	// declaration and without secrets: what the run's records show.
	Flags []metrics.KV

	// Warnings are to be said on stderr: what was accepted and has no effect.
	Warnings []string
}

// config is what the run's records, block and result file say of the options.
// The model and tokenizer are as asked for: empty when the server is to name
// them.
func (o *options) config() metrics.Config {
	c := metrics.Config{
		Backend:     o.Server.Backend,
		BaseURL:     o.Server.BaseURL,
		Endpoint:    o.Server.Endpoint,
		Model:       o.Server.Model,
		Tokenizer:   cmp.Or(o.Server.Tokenizer, o.Server.Model),
		Dataset:     o.Workload.Dataset,
		Seed:        o.Workload.Seed,
		NumPrompts:  o.Workload.NumPrompts,
		RequestRate: o.Traffic.RequestRate,
		Burstiness:  o.Traffic.Burstiness,
		RampUp:      o.Traffic.RampUp,
		Duration:    o.Traffic.Duration.Seconds(),
		IgnoreEOS:   o.Sampling.exact(),
		OwnLength:   o.Sampling.ownLength(),
		Label:       o.Results.Label,
		Metadata:    o.Results.Metadata,
		Goodput:     o.Results.Goodput,
		Metrics:     o.Results.Metrics,
		Percentiles: o.Results.Percentiles,
	}
	if c.SelfTimed = o.Workload.SelfTimed; c.SelfTimed {
		c.RequestRate = 0
	}
	if o.Traffic.Curve != nil {
		c.RateCurve = o.Traffic.Curve.String()
	}
	if o.endless() {
		c.NumPrompts = 0
	}
	if c.SkipTokenizer = o.Server.SkipTokenizer; c.SkipTokenizer {
		c.Tokenizer = ""
	}
	if o.Traffic.MaxConcurrency != nil {
		c.MaxConcurrency = *o.Traffic.MaxConcurrency
	}
	return c
}

// serverOptions say where requests go and in which protocol.
type serverOptions struct {
	Backend    string       // vllm, openai or openai-chat
	BaseURL    string       // http://host:port when --base-url was not given; no slash at its end
	Query      string       // of the URL of every call, from --base-url; without a question mark, empty for none
	Endpoint   string       // path, starting with a slash
	Asked      string       // query of the endpoint alone, likewise
	Headers    []metrics.KV // later ones replaced earlier ones of the same name
	Insecure   bool         // do not verify TLS certificates
	TLS        loadgen.CredentialFiles
	HTTP2      bool
	Socket     string // path of a unix socket to connect to; empty for the URL's host
	Model      string // empty: the first of GET /v1/models
	ServedName string // name in requests; empty: the model's

	APIKey  string  // from OPENAI_API_KEY
	Secrets secrets // what must not be shown

	Tokenizer     string // a file, a folder or stub-N; empty: the model's name
	SkipTokenizer bool   // load none
}

// trafficOptions say when requests are sent.
type trafficOptions struct {
	RequestRate    float64 // requests a second, +Inf for all at once; +Inf with a ramp-up
	Burstiness     float64 // shape of the gamma distribution; +Inf for even gaps
	MaxConcurrency *int    // nil for no limit
	Rule           arrivals.ArrivalRule
	RampUp         *metrics.RampUp
	Curve          *arrivals.Curve // a rate that changes over time, nil for a constant one
	Duration       time.Duration   // nothing is sent from then on; 0 for no limit
	Counted        bool            // --num-prompts was given: the load has no more, whatever time there is
	WarmUp         time.Duration   // how long the same kind of load goes before
	Warmups        int             // requests before the measured ones
	ReadyCheck     time.Duration   // how long to wait for the server; 0 skips the check
	Warm           bool            // open the connections before the clock starts
	Delay          time.Duration   // before the first request
	Seed           *int64          // of the arrival times; nil for the workload's
	ProbeRate      float64         // probes a second, less what their answers take; 0 for none
	Retries        int             // times that a failed request is sent again at most
	Profile        bool            // have the server profile the load
}

// workloadOptions say what is sent: they are shared with `servebench dataset`.
type workloadOptions struct {
	Dataset         string
	Path            string
	Seed            int64
	NumPrompts      int // for custom, 0 or less means all
	Shuffle         bool
	Oversample      bool   // repeat a dataset that is too short
	RequestIDPrefix string // empty: bench-<8 random hex digits>-

	ShareGPTLen *int // tokens to ask for; nil for the length of the recorded answer

	// These have what flags of their own set; their Options are filled in on opening.
	Random           dataset.Random
	Custom           dataset.Custom
	PrefixRepetition dataset.PrefixRepetition
	Sonnet           dataset.Sonnet
	SpecBench        dataset.SpecBench
	SpeedBench       dataset.SpeedBench
	TimedTrace       dataset.TimedTrace

	SkipTemplate   bool // send prompts without the chat template
	TemplateKwargs *jinja.Kwargs
	SelfTimed      bool // due times are the dataset's
	Stats          bool // of servebench dataset: lengths only

	TokenIDs  bool // send token ids instead of text; needs no tokenizer
	VocabSize int  // ids are below it when there is no tokenizer
}

// samplingOptions say what is asked of the model beside the prompt.
type samplingOptions struct {
	Temperature *float64 // also in ExtraBody; nil leaves it to the server
	IgnoreEOS   bool     // given, or implied by the random dataset
	Logprobs    *int
	ExtraBody   pyjson.Object // sampling flags, with --extra-body merged over them
	UsageAlways bool          // ask for token counts in every chunk
	PlainText   bool          // send the content of a chat's messages as a string
	Drop        []string      // members that no body has
}

// exact says that an answer is to have all tokens that the dataset asks for: by
// ignore_eos, with nothing in the body that has it end elsewhere.
func (s *samplingOptions) exact() bool {
	return s.IgnoreEOS && !s.ownLength() && !s.drops("ignore_eos") && !s.sends("ignore_eos", "stop", "stop_token_ids")
}

// ownLength says that the body has a bound on the answer that is not the dataset's, or
// none, or asks for several answers, whose tokens count together.
func (s *samplingOptions) ownLength() bool {
	bounds := []string{"max_tokens", "max_completion_tokens"}
	return s.drops(bounds...) || s.sends(append(bounds, "n", "best_of")...)
}

// sends says whether one of the members was given for the body.
func (s *samplingOptions) sends(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, given := s.ExtraBody.Get(key)
		return given
	})
}

// drops says whether one of the members is kept out of the body.
func (s *samplingOptions) drops(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(s.Drop, key) })
}

// resultOptions say what is reported and where it goes.
type resultOptions struct {
	Metrics     []string  // --percentile-metrics as given; names it does not know have no effect
	Percentiles []float64 // 0 to 100, in the order given
	Goodput     []metrics.SLO
	Label       string // empty: the backend
	Metadata    []metrics.KV

	Save         bool // write vLLM's result file
	SaveDetailed bool // keep its arrays
	Append       bool
	Dir          string
	Filename     string        // empty: made from label, rate, model and time
	PyTorch      pyjson.Object // arguments for a second file in the format of PyTorch's benchmarks; nil for none
	Plots        plotOptions
	Withheld     bool // result file and plots are not written at the end of the run

	Parts       partOptions
	Stream      string       // where the record stream goes: a file, - for stdout, empty for nowhere
	Record      string       // full, requests or compact
	Intervals   string       // where the interval log goes; empty for nowhere
	VLLMVersion vllm.Version // whose block is printed
	NoProgress  bool
	Strict      bool // a run that cannot be believed ends with exit code 3
}

// limitOptions are time limits; 0 means none.
type limitOptions struct {
	Connect   time.Duration
	FirstByte time.Duration
	Stall     time.Duration // between two chunks
	Total     time.Duration // one request, from start to end
	Tail      time.Duration // requests in flight once the last was sent
	Deadline  time.Duration // all of the run, from when the clock starts
	Drain     time.Duration // requests in flight when the run is interrupted
}
