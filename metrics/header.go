package metrics

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/cost"
)

// A Header describes a run. It is the first line of the run's record stream.
type Header struct {
	// Run is an id unique to the run, and Shard the index of this shard, from 0. Every line
	// of a stream has both.
	Run   string `json:"-"`
	Shard int    `json:"-"`
	// Shards is how many shards make the run; 0 and 1 both mean one.
	Shards int `json:"shards,omitempty"`
	// Epoch is the wall clock at offset 0 of every Record.
	Epoch time.Time `json:"epoch"`
	// StartAt is when all shards agreed to start; zero without such an agreement.
	StartAt time.Time `json:"start_at,omitzero"`
	// ClockOffset is the wall clock less the reference clock, and ClockError bounds its error; 0 if
	// unknown.
	ClockOffset time.Duration `json:"clock_offset,omitempty"`
	ClockError  time.Duration `json:"clock_error,omitempty"`
	// Host is the name of a shard's machine.
	Host string `json:"host,omitempty"`
	// Compact says that the stream holds no requests: its end line has everything.
	Compact bool `json:"compact,omitempty"`
	// Target is the name of the target, empty if there is only one.
	Target string `json:"target,omitempty"`
	// Group is an id that the runs of one experiment on several targets share.
	Group string `json:"group,omitempty"`
	// Series is an id that repeats of a run share; empty for none.
	Series string `json:"series,omitempty"`
	// Solo says that the target was loaded alone, in a run of a group.
	Solo bool `json:"solo,omitempty"`
	// With is the other target of a run of a group in which only two of its targets were loaded.
	With string `json:"with,omitempty"`
	// Server is the start of the server that the run measured; nil if unknown, and for a target with
	// several replicas.
	Server *ServerStart `json:"server,omitempty"`
	// Rule is how the sequential sweep that made the run decides; nil for other runs.
	Rule *Rule `json:"rule,omitempty"`
	// Wake is how the server woke up before the load; nil if it was not put to sleep.
	Wake *Wake `json:"wake,omitempty"`
	// Delay is how long nothing was sent at first, and WarmUp how long the warm-up after that took,
	// before the measured part.
	Delay  time.Duration `json:"delay,omitempty"`
	WarmUp time.Duration `json:"warm_up,omitempty"`
	// Sampled says that the server or GPUs were sampled during the run.
	Sampled bool `json:"sampled,omitempty"`
	// Version is the version of the program that made the stream.
	Version string `json:"version,omitempty"`
	// Commit is the commit from which that program was built, with +dirty behind it if files had been
	// changed; empty if unknown.
	Commit string `json:"commit,omitempty"`
	// Definitions are the rules by which a Summary counts; the records of a stream work with all of
	// them.
	Definitions Definitions `json:"definitions,omitempty"`
	// Flags are the command line, with every value in effect.
	Flags  []KV   `json:"flags,omitempty"`
	Config Config `json:"config"`
}

// A Rule is how the pairs of a sequential sweep decide, so that whoever reads its runs later comes to the
// same verdict.
type Rule struct {
	Old  string `json:"old"`  // arm
	New  string `json:"new"`  // arm
	Gate string `json:"gate"` // as a gate file, in one line
	// Instead is the Gate that the sweep recorded, where a reader has another; else it is empty.
	Instead string `json:"-"`
}

// A Wake is how a server slept and woke up before the load, by vLLM's sleep mode.
type Wake struct {
	Level int `json:"level"` // 1 keeps the weights in the host's memory, 2 drops them
	// Sleep is how long the call took that put it to sleep.
	Sleep time.Duration `json:"sleep"`
	// Ready is the time from the first call that woke it up until it said that it does not sleep, and
	// FirstToken from that call until the first chunk of the next request, sent right after.
	Ready      time.Duration `json:"ready"`
	FirstToken time.Duration `json:"first_token"`
	// Unproven says that nothing but the answers to the calls shows that the server slept: one that
	// ignores them answers as well.
	Unproven bool `json:"unproven,omitempty"`
}

// A ServerStart is one start of a server. Runs on the same start share its process, with its caches,
// its clocks and its memory.
type ServerStart struct {
	// ID is the same for all runs on one start, and for no others.
	ID string `json:"id"`
	// By says how the start is known: sweep, process_start_time_seconds, _created or listener.
	By string `json:"by"`
	// Began is when the process started, by the wall clock; zero if unknown.
	Began time.Time `json:"began,omitzero"`
	// PID is its process id on the machine of the load generator; 0 if unknown.
	PID int `json:"pid,omitempty"`
	// Version is the version of the server program, as the server says; empty if unknown.
	Version string `json:"version,omitempty"`
}

// Began is when the measured part began, on the clock of the Records.
func (h *Header) Began() time.Duration { return h.Delay + h.WarmUp }

// A Config is what the user asked for, without secrets: what the block and the result file need,
// under the names of vLLM's flags. If it comes from a file that does not say, NumPrompts is -1, and
// the rate and the burstiness are NaN.
type Config struct {
	Backend  string `json:"backend"`
	BaseURL  string `json:"base_url,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"` // model id, as vLLM's model_id
	// Tokenizer is its name, as vLLM's tokenizer_id; empty if no tokenizer was used.
	Tokenizer string `json:"tokenizer,omitempty"`
	// SkipTokenizer leaves out of a report what needs a count of output tokens.
	SkipTokenizer bool `json:"skip_tokenizer_init,omitempty"`
	// Whole says that answers are not streamed: they have no TTFT, TPOT or ITL.
	Whole   bool   `json:"whole,omitempty"`
	Dataset string `json:"dataset,omitempty"`
	Seed    int64  `json:"seed"`
	// NumPrompts is 0 for as many as fit into Duration, and for all of some datasets.
	NumPrompts int `json:"num_prompts"`
	// RequestRate is in requests a second; +Inf for all at once.
	RequestRate float64 `json:"-"`
	// Burstiness is the shape of the gamma distribution; +Inf for even gaps.
	Burstiness     float64 `json:"-"`
	MaxConcurrency int     `json:"max_concurrency,omitempty"` // 0 means no limit
	MaxSessions    int     `json:"max_sessions,omitempty"`    // begun and not ended; 0 means no limit
	RampUp         *RampUp `json:"ramp_up,omitempty"`
	// SelfTimed says that due times came from the dataset's own timestamps.
	SelfTimed bool `json:"self_timed,omitempty"`
	// RateCurve is a rate that changes over time, in the syntax of --rate-curve.
	RateCurve string `json:"rate_curve,omitempty"`
	// Duration is in seconds: no request is sent after it. 0 means no limit.
	Duration float64 `json:"duration,omitempty"`
	// IgnoreEOS says that answers should have all the tokens asked for.
	IgnoreEOS bool `json:"ignore_eos,omitempty"`
	// OwnLength says that the body bounds answers itself, or asks for several.
	OwnLength bool `json:"own_length,omitempty"`
	// Answers is how many answers each request asks for; 0 for one. To the server, each is a
	// request, with the same prompt.
	Answers  int    `json:"answers,omitempty"`
	Label    string `json:"label,omitempty"`
	Metadata []KV   `json:"metadata,omitempty"`

	// Price is what a GPU costs. NumGPUs is how many GPUs the server
	// has; 0 if the metadata may say so.
	Price   cost.Price `json:"price_per_gpu_hour,omitempty"`
	NumGPUs int        `json:"gpus,omitempty"`

	Goodput []SLO `json:"goodput,omitempty"`
	// Metrics are names of the package's Metrics; others are ignored.
	Metrics []string `json:"percentile_metrics,omitempty"`
	// Percentiles are from 0 to 100, in the order given.
	Percentiles []float64 `json:"metric_percentiles,omitempty"`
}

// A RampUp is a request rate that grows with the request index.
type RampUp struct {
	Strategy string `json:"strategy"` // linear or exponential
	Start    int    `json:"start"`    // requests a second
	End      int    `json:"end"`      // requests a second
}

// A KV is one --metadata pair. The order of pairs is kept.
type KV struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// GPUs is how many GPUs the server has: NumGPUs, or else by the run's metadata, num_gpus or
// gpu_count, or else the product of the tensor, pipeline and data parallel sizes under the names of
// vLLM's flags, as vLLM's sweep counts them. It is 1 if nothing says so.
func (c *Config) GPUs() float64 {
	if c.NumGPUs > 0 {
		return float64(c.NumGPUs)
	}
	size := func(names ...string) float64 {
		for _, kv := range c.Metadata {
			if slices.Contains(names, strings.ReplaceAll(kv.Key, "-", "_")) {
				if n, err := strconv.ParseFloat(kv.Value, 64); err == nil && n > 0 && !math.IsInf(n, 0) {
					return n
				}
			}
		}
		return 0
	}
	if n := size("num_gpus", "gpu_count"); n > 0 {
		return n
	}
	gpus := 1.0
	for _, names := range [][]string{{"tensor_parallel_size", "tp"}, {"pipeline_parallel_size", "pp"}, {"data_parallel_size", "dp"}} {
		if n := size(names...); n > 0 {
			gpus *= n
		}
	}
	return gpus
}

// UnknownConfig is a Config of which nothing is known.
func UnknownConfig() Config {
	return Config{NumPrompts: -1, RequestRate: math.NaN(), Burstiness: math.NaN()}
}

// Paced reports whether requests were due one after the other: by a rate, a ramp or the dataset's
// times. It is unknown for a run without a run line.
func (c *Config) Paced() bool {
	return c.SelfTimed || c.RampUp != nil || c.RateCurve != "" || !math.IsInf(c.RequestRate, 1) && !math.IsNaN(c.RequestRate)
}

// Even reports whether requests were due at one rate throughout, which the server can keep up with
// or not. With a ramp, a curve or a trace, the backlog follows the rate.
func (c *Config) Even() bool {
	return !c.SelfTimed && c.RampUp == nil && c.RateCurve == "" && c.RequestRate > 0 && !math.IsInf(c.RequestRate, 1)
}

// Selected reports whether vLLM reports a metric of a run with this Config. The name is one of
// Metrics.
func (c *Config) Selected(metric string) bool {
	if !slices.Contains(c.Metrics, metric) {
		return false
	}
	switch metric {
	case "ttft", "tpot", "itl":
		return !c.SkipTokenizer && !c.Whole && !c.Pooling()
	case "client_queue_time":
		return c.MaxConcurrency > 0
	case "e2el_including_client_queue":
		return c.MaxConcurrency > 0 && !math.IsInf(c.RequestRate, 1)
	}
	return true
}

// An Ask changes what a report contains. Its zero value leaves everything as the run had it.
type Ask struct {
	Metrics     []string   // --percentile-metrics
	Percentiles []float64  // --metric-percentiles
	Goodput     []SLO      // --goodput
	Price       cost.Price // --price; 0 leaves it
	NumGPUs     int        // --gpus; 0 leaves it
	Outcomes    bool       // keep Outcomes, for a detailed result file
	Timings     bool       // keep Timings, for any result file
	Trace       bool       // keep the Trace, which runs of a Group have in any case

	// Definitions are the rules to count by, if the stream has requests; empty for the run's.
	Definitions Definitions

	// Each is called with each request that a record stream holds, by what is known of its
	// run so far; nil for none. It must not keep the record or change it.
	Each func(*Header, *Record)
}

// Apply is a copy of h with the changes of a.
func (a Ask) Apply(h *Header) *Header {
	asked := *h
	if a.Metrics != nil {
		asked.Config.Metrics = a.Metrics
	}
	if a.Percentiles != nil {
		asked.Config.Percentiles = a.Percentiles
	}
	if a.Goodput != nil {
		asked.Config.Goodput = a.Goodput
	}
	asked.Config.Price = cmp.Or(a.Price, asked.Config.Price)
	asked.Config.NumGPUs = cmp.Or(a.NumGPUs, asked.Config.NumGPUs)
	return &asked
}

// wireFloat is a float64 that JSON can hold even if it is infinite.
type wireFloat float64

func (f wireFloat) MarshalJSON() ([]byte, error) {
	if v := float64(f); math.IsInf(v, 0) || math.IsNaN(v) {
		return json.Marshal(FormatFloat(v))
	}
	return json.Marshal(float64(f))
}

func (f *wireFloat) UnmarshalJSON(data []byte) error {
	text := string(data)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	v, err := strconv.ParseFloat(text, 64)
	*f = wireFloat(v)
	return err
}

// plainConfig is Config without its methods.
type plainConfig Config

// wireConfig is a Config as JSON: it spells what JSON cannot hold.
type wireConfig struct {
	*plainConfig
	RequestRate wireFloat `json:"request_rate"`
	Burstiness  wireFloat `json:"burstiness"`
}

// MarshalJSON writes infinite rates as "inf".
func (c Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireConfig{(*plainConfig)(&c), wireFloat(c.RequestRate), wireFloat(c.Burstiness)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Config) UnmarshalJSON(data []byte) error {
	w := wireConfig{plainConfig: (*plainConfig)(c)}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	c.RequestRate, c.Burstiness = float64(w.RequestRate), float64(w.Burstiness)
	return nil
}

// Start is when the run or its shard began, by the reference clock.
func (h *Header) Start() time.Time { return h.Epoch.Add(-h.ClockOffset) }

// TargetName is the run's target, and whether it was loaded alone or with one other, as in "a with
// b"; empty if there is only one target.
func (h *Header) TargetName() string { return strings.TrimSpace(h.Target + " " + h.Part(" ")) }

// Part says in which part of its group's targets the run was, its words joined by a separator:
// alone, or with and the other target. It is empty if all were loaded.
func (h *Header) Part(separator string) string {
	switch {
	case h.Solo:
		return "alone"
	case h.With != "":
		return "with" + separator + h.With
	}
	return ""
}

// SimulatedKey is the metadata of a run that took place in time that does not pass. It has no verdict,
// since neither a client nor a server was measured.
const SimulatedKey = "simulated"

// Simulated reports whether the run took place in time that does not pass.
func (h *Header) Simulated() bool { return Value(h.Config.Metadata, SimulatedKey) != "" }

// Value is the value of a key among pairs; empty if there is no such pair.
func Value(pairs []KV, key string) string {
	if i := slices.IndexFunc(pairs, func(kv KV) bool { return kv.Key == key }); i >= 0 {
		return pairs[i].Value
	}
	return ""
}

// OutputFlags are the flags that only say where the numbers of a run go.
var OutputFlags = []string{
	"percentile-metrics", "metric-percentiles", "label", "metadata", "save-result", "save-detailed", "append-result", "result-dir", "result-filename",
	"plot-timeline", "timeline-itl-thresholds", "plot-dataset-stats", "record-to", "record", "compress", "hlog", "vllm-version", "window", "slice", "extended",
	"metrics-addr", "disable-tqdm", "strict", "abort-on-failures", "config", "price", "gpus",
}
