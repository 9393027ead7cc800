package loadgen

import (
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

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

	// Seed draws the arrival times; nil for the Workload's.
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

	// NumPrompts is how many. 0 means all of custom, spec_bench, speed_bench and file, and
	// 1000 of any other dataset.
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

	// Every is how often the server is sampled; 0 means each second.
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
	// Metrics are the latencies that a block prints, of ttft, tpot, itl and e2el; nil means
	// the first three.
	Metrics []string

	// Percentiles are printed of each of the Metrics, from 0 to 100; nil means 99.
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
