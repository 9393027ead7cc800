package metrics

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
)

// A Header says what a run was. It opens the run's record stream.
type Header struct {
	Run         string        `json:"-"`                      // id, unique to the run; every line has it
	Shard       int           `json:"-"`                      // this shard's index, from 0; every line has it
	Shards      int           `json:"shards,omitempty"`       // how many shards make the run; 0 and 1 both mean one
	Epoch       time.Time     `json:"epoch"`                  // wall clock at the start: offset 0 of every Record
	StartAt     time.Time     `json:"start_at,omitzero"`      // when all shards were to start together; zero when that was not agreed upon
	ClockOffset time.Duration `json:"clock_offset,omitempty"` // wall clock less the reference clock, when known
	ClockError  time.Duration `json:"clock_error,omitempty"`  // by how much ClockOffset may be wrong; 0 when nobody knows
	Host        string        `json:"host,omitempty"`         // name of a shard's machine
	Compact     bool          `json:"compact,omitempty"`      // the stream holds no single requests: its end line has all there is
	Target      string        `json:"target,omitempty"`       // name of the target, empty when there is only one
	Group       string        `json:"group,omitempty"`        // id that runs on several targets share: those of one experiment
	Series      string        `json:"series,omitempty"`       // id of the repeats that the run is one of; empty for none
	Solo        bool          `json:"solo,omitempty"`         // of a group: the target was loaded alone
	Delay       time.Duration `json:"delay,omitempty"`        // how long nothing was sent at first
	WarmUp      time.Duration `json:"warm_up,omitempty"`      // how long a warm-up went before the measured part, from Delay on
	Sampled     bool          `json:"sampled,omitempty"`      // the server or GPUs were sampled meanwhile
	Version     string        `json:"version,omitempty"`      // of the program that made the stream
	Definitions Definitions   `json:"definitions,omitempty"`  // by which a Summary counts; a stream's records serve all
	Flags       []KV          `json:"flags,omitempty"`        // the command line, every value in effect
	Config      Config        `json:"config"`

	former bool // read from a stream of before Definitions, whose records serve those of 0.29.0 alone
}

// Began is when the measured part began, on the clock of the Records.
func (h *Header) Began() time.Duration { return h.Delay + h.WarmUp }

// A Config is what was asked for, without secrets: what the block and the
// result file need, under the names of vLLM's flags. Where it was read from a
// file that does not tell, NumPrompts is -1, the rate and the burstiness are NaN.
type Config struct {
	Backend        string  `json:"backend"`
	BaseURL        string  `json:"base_url,omitempty"`
	Endpoint       string  `json:"endpoint,omitempty"`
	Model          string  `json:"model"`                         // model id, as vLLM's model_id
	Tokenizer      string  `json:"tokenizer,omitempty"`           // its name, as vLLM's tokenizer_id; empty when none was loaded
	SkipTokenizer  bool    `json:"skip_tokenizer_init,omitempty"` // what counts output tokens is not reported
	Dataset        string  `json:"dataset,omitempty"`
	Seed           int64   `json:"seed"`
	NumPrompts     int     `json:"num_prompts"`               // 0 for as many as a Duration took, and for all of some datasets
	RequestRate    float64 `json:"-"`                         // requests a second; +Inf for all at once
	Burstiness     float64 `json:"-"`                         // shape of the gamma distribution; +Inf for even gaps
	MaxConcurrency int     `json:"max_concurrency,omitempty"` // 0 means no limit
	RampUp         *RampUp `json:"ramp_up,omitempty"`
	SelfTimed      bool    `json:"self_timed,omitempty"` // due times came from the dataset's own timestamps
	RateCurve      string  `json:"rate_curve,omitempty"` // a rate that changes over time, as --rate-curve has it
	Duration       float64 `json:"duration,omitempty"`   // seconds after which no request is sent, 0 for no limit
	IgnoreEOS      bool    `json:"ignore_eos,omitempty"` // answers were to have all of the tokens asked for
	OwnLength      bool    `json:"own_length,omitempty"` // the body has a bound on answers of its own, or asks for several
	Label          string  `json:"label,omitempty"`
	Metadata       []KV    `json:"metadata,omitempty"`

	Goodput     []SLO     `json:"goodput,omitempty"`
	Metrics     []string  `json:"percentile_metrics,omitempty"` // names of Metrics; others are ignored
	Percentiles []float64 `json:"metric_percentiles,omitempty"` // 0 to 100, in the order given
}

// A RampUp is a request rate that grows over the request index.
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

// UnknownConfig is a Config of which nothing is known.
func UnknownConfig() Config {
	return Config{NumPrompts: -1, RequestRate: math.NaN(), Burstiness: math.NaN()}
}

// Paced says whether requests were due one after the other: by a rate, a ramp or
// the dataset's times. Of a run without a run line that is not known.
func (c *Config) Paced() bool {
	return c.SelfTimed || c.RampUp != nil || c.RateCurve != "" || !math.IsInf(c.RequestRate, 1) && !math.IsNaN(c.RequestRate)
}

// even says whether requests were due at one rate throughout, which the server can
// keep up with or not. A ramp, a curve and a trace have the backlog follow their rate.
func (c *Config) even() bool {
	return !c.SelfTimed && c.RampUp == nil && c.RateCurve == "" && c.RequestRate > 0 && !math.IsInf(c.RequestRate, 1)
}

// Selected says whether vLLM reports a metric of a run that was asked for this
// way. The name is one of Metrics.
func (c *Config) Selected(metric string) bool {
	if !slices.Contains(c.Metrics, metric) {
		return false
	}
	switch metric {
	case "ttft", "tpot", "itl":
		return !c.SkipTokenizer
	case "client_queue_time":
		return c.MaxConcurrency > 0
	case "e2el_including_client_queue":
		return c.MaxConcurrency > 0 && !math.IsInf(c.RequestRate, 1)
	}
	return true
}

// An Ask is what a report is to hold whatever the run itself was asked for. Its
// zero value leaves everything as the run had it.
type Ask struct {
	Metrics     []string  // --percentile-metrics
	Percentiles []float64 // --metric-percentiles
	Goodput     []SLO     // --goodput
	Outcomes    bool      // keep Outcomes, for a detailed result file
	Lastings    bool      // keep Lastings, for any result file
	Trace       bool      // keep the Trace, which runs of a Group have in any case

	// Definitions are those to count by, where the stream has single requests;
	// empty for those of the run.
	Definitions Definitions
}

// Apply is a copy of h that asks for what a asks.
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
	return &asked
}

// wireFloat is a float64 that JSON can hold when it is infinite.
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

// wireConfig is a Config as JSON: what JSON cannot hold is spelled differently.
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

// TargetName is the target that the run is of, and whether it was loaded alone; empty
// where there is one target alone.
func (h *Header) TargetName() string {
	if h.Solo {
		return h.Target + " alone"
	}
	return h.Target
}
