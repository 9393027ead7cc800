package loadgen

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/lora"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// Traffic says when requests are sent.
type Traffic struct {
	// RequestRate is in requests a second; +Inf, or 0, sends all at once. With a RampUp or a Curve
	// it must be +Inf or 0.
	RequestRate float64

	// Burstiness is the shape of the gamma distribution of the gaps: 1 (or 0) is a Poisson process,
	// less is burstier, +Inf is even.
	Burstiness float64

	// MaxConcurrency bounds the requests in flight; nil for no limit.
	MaxConcurrency *int

	// MaxSessions bounds the sessions that have begun and not ended; nil for no limit.
	MaxSessions *int

	// Breadth gives a slot to a first turn before a later turn; see engine.Load.
	Breadth bool

	// Absolute sends a later turn at the dataset's time for it, or at once if what it waits for ends
	// later. Without it, a later turn waits for its gap.
	Absolute bool

	Rule   arrivals.Rule
	RampUp *metrics.RampUp

	// Curve is a rate that changes over time; nil for a constant rate.
	Curve *arrivals.Curve

	// Duration is the time after which nothing is sent; 0 for no limit.
	Duration time.Duration

	// Counted says that Workload.NumPrompts bounds the load even if it has more time. Otherwise a
	// load with a Duration or a Curve has as many requests as fit into its time.
	Counted bool

	// WarmUp is how long the same kind of load runs before the measured one.
	WarmUp time.Duration

	// Warmups is the number of requests before the measured ones.
	Warmups int

	// ReadyCheck is how long to wait for the server; 0 does not check.
	ReadyCheck time.Duration

	// Warm opens the connections before the clock starts.
	Warm bool

	// Delay is the time before the first request.
	Delay time.Duration

	// Seed draws the arrival times; nil for the Workload's seed.
	Seed *int64

	// ProbeRate is in probes a second, not counting the time of their answers; 0 for no probes.
	ProbeRate float64

	// Retries is how many times a failed request may be sent again.
	Retries int

	// SleepFirst is the level at which the server sleeps before the load, 1 or 2, to measure its
	// wake; 0 for none.
	SleepFirst int

	// Profile makes the server profile the load.
	Profile bool
}

// Workload says what is sent.
type Workload struct {
	// Dataset is a name as in --dataset-name; empty means random.
	Dataset string

	// Source, if set, provides up to NumPrompts conversations instead of a dataset. Dataset may
	// name it. Without a Server.Tokenizer, the server counts tokens. A run whose Source ends early
	// is incomplete.
	Source dataset.Source

	// Path is the dataset's file.
	Path string

	Seed int64

	// NumPrompts is the number of prompts, and of sessions if they have several turns. 0 means all of
	// a dataset that kinds.CanSendAll, and 1000 of any other.
	NumPrompts int

	// DisableShuffle keeps the order of the dataset's file.
	DisableShuffle bool

	// NoOversample sends fewer prompts if the dataset has fewer than NumPrompts, instead of
	// repeating some.
	NoOversample bool

	// RequestIDPrefix begins the ids of requests; empty for bench-<8 random hex digits>-.
	RequestIDPrefix string

	// Random are the settings of random, random-mm and random-rerank, and Settings of other datasets. Their
	// Options are ignored: the Workload's count. So is Settings.Random.
	Random   dataset.Random
	Settings kinds.Settings

	// MultimodalChat has datasets with media make the user's message themselves.
	MultimodalChat bool

	Sessions Sessions

	// Adapters are the LoRA adapters that requests ask for in place of the model.
	Adapters lora.Choice

	// SkipTemplate sends prompts without the chat template.
	SkipTemplate   bool
	TemplateKwargs *jinja.Kwargs

	// SelfTimed says that the dataset says when requests are due.
	SelfTimed bool

	// TokenIDs sends token ids instead of text. It needs no tokenizer.
	TokenIDs bool

	// VocabSize bounds the ids when there is no tokenizer; 0 means 32000.
	VocabSize int

	// VocabGiven says that VocabSize is the size of the model's vocabulary, not a guess.
	VocabGiven bool
}

// Sampling says what else to ask of the model, apart from the prompt.
type Sampling struct {
	// Temperature is also in ExtraBody; nil leaves it to the server.
	Temperature *float64

	// IgnoreEOS makes answers go on to their full length.
	IgnoreEOS bool

	// Logprobs is how many log probabilities to ask for with each token; nil for none.
	Logprobs *int

	// ExtraBody is merged into every body.
	ExtraBody pyjson.Object

	// UsageAlways asks for token counts in every chunk.
	UsageAlways bool

	// PlainText sends the content of a chat's messages as a string.
	PlainText bool

	// Drop are members that bodies leave out.
	Drop []string
}

// IgnoresEOS reports whether requests of w ask a server for answers that go on past the end that the model gives them.
func (s *Sampling) IgnoresEOS(w *Workload, of *Server) bool {
	asked := s.IgnoreEOS || w.Has(kinds.ExactOutput) && !of.Pooling()
	api := of.API()
	return asked && (api == nil || !api.Stops)
}

// exact reports whether an answer must have all tokens that the dataset asks for: with ignore_eos,
// and nothing in the body that ends it earlier.
func (s *Sampling) exact() bool {
	return s.IgnoreEOS && !s.ownLength() && !s.drops("ignore_eos") && !s.sends("ignore_eos", "stop", "stop_token_ids")
}

// ownLength reports whether the body does not bound the answer as the dataset does: it has another
// bound, or no bound, or asks for several answers, whose tokens count together.
func (s *Sampling) ownLength() bool {
	bounds := []string{"max_tokens", "max_completion_tokens"}
	options, _ := s.ExtraBody.Get("options") // of Ollama's API
	own, _ := options.(pyjson.Object)
	_, bounded := own.Get("num_predict")
	return bounded || s.drops(bounds...) || s.sends(append(bounds, "num_predict", "n", "best_of")...)
}

// answers is how many answers each request asks for; 0 for one. best_of has the server make more of them
// than it sends.
func (s *Sampling) answers() (most int) {
	for _, key := range []string{"n", "best_of"} {
		value, _ := s.ExtraBody.Get(key)
		if n, err := strconv.Atoi(fmt.Sprint(value)); err == nil && n > 1 {
			most = max(most, n)
		}
	}
	return most
}

// sends reports whether one of the members was given for the body.
func (s *Sampling) sends(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, given := s.ExtraBody.Get(key)
		return given
	})
}

// drops reports whether one of the members is left out of the body.
func (s *Sampling) drops(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(s.Drop, key) })
}

// Watch says what to sample during the load.
type Watch struct {
	// Server samples the server's /metrics.
	Server bool

	// URLs are the server's replicas, without /metrics at their ends; nil for the server itself.
	URLs []string

	// Every is the interval between samples of the server; 0 means one second.
	Every time.Duration

	// GPU is NvidiaSMI, or the URL of a DCGM exporter without /metrics; empty for nothing.
	GPU string

	// GPUs are the indexes to ask nvidia-smi for, as 0,1; empty for all GPUs.
	GPUs string

	// OwnGPU says that GPU and GPUs are of this target alone. All other targets of a run share the
	// GPUs of the whole plan.
	OwnGPU bool

	// Pool is the name of the server's kvcached pool, KVCACHED_IPC_NAME, or the path of its file;
	// empty for nothing. In it, TargetMark stands for the name of the target.
	Pool string
}

// TargetMark stands for the name of the target in Watch.Pool.
const TargetMark = "{target}"

// NvidiaSMI is the program that reports on GPUs, and its name in Watch.GPU.
const NvidiaSMI = "nvidia-smi"

// any reports whether anything is sampled.
func (w *Watch) any() bool { return w.Server || w.GPU != "" || w.Pool != "" }

// Limits are limits of time; 0 means no limit.
type Limits struct {
	// Connect bounds opening a connection, TLS included.
	Connect time.Duration

	// FirstByte bounds the time from sending a request to the first byte of its answer.
	FirstByte time.Duration

	// Stall bounds the time between two chunks.
	Stall time.Duration

	// Total bounds one request from start to end.
	Total time.Duration

	// Tail bounds requests in flight after the last was sent.
	Tail time.Duration

	// Deadline bounds the whole run, from the start of the clock.
	Deadline time.Duration

	// Drain bounds requests in flight when the run is interrupted.
	Drain time.Duration

	// Call bounds a call that is not part of the load; 0 means ten seconds.
	Call time.Duration
}

// Report says what the Summaries of a run contain.
type Report struct {
	// Metrics are the latencies that a block prints: ttft, tpot, itl, e2el; nil means the first
	// three.
	Metrics []string

	// Percentiles are the percentiles to print of each of the Metrics, from 0 to 100; nil means 99.
	Percentiles []float64

	// Goodput are the limits that a good request keeps.
	Goodput []metrics.SLO

	// Price is what a GPU costs. GPUs is how many GPUs the server has;
	// 0 for one, unless the Metadata says.
	Price cost.Price
	GPUs  int

	// Definitions are the rules by which a release of vLLM counts answers; empty means the latest.
	Definitions record.Definitions

	// Label and Metadata name the run in result files. PartLabels says that the Label of a target
	// which is loaded without some others ends with Header.Part, as in openai-a-alone.
	Label      string
	PartLabels bool
	Metadata   []metrics.KV

	// Rule is how the sequential sweep that makes the run decides; nil for other runs.
	Rule *metrics.Rule
}
