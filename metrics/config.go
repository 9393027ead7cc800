package metrics

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/cost"
)

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
	// Traits are what the API and the workload are like.
	Traits Traits `json:"traits,omitzero"`
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
	IgnoreEOS bool   `json:"ignore_eos,omitempty"`
	Label     string `json:"label,omitempty"`
	Metadata  []KV   `json:"metadata,omitempty"`

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
	for _, names := range [][]string{{"tensor_parallel_size", "tp"}, {"pipeline_parallel_size", "pp"},
		{"data_parallel_size", "dp"}} {
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
	return c.SelfTimed || c.RampUp != nil || c.RateCurve != "" || !math.IsInf(c.RequestRate, 1) &&
		!math.IsNaN(c.RequestRate)
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
		return !c.SkipTokenizer && !c.Whole && !c.Traits.Pooled
	case "client_queue_time":
		return c.MaxConcurrency > 0
	case "e2el_including_client_queue":
		return c.MaxConcurrency > 0 && !math.IsInf(c.RequestRate, 1)
	}
	return true
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

// Value is the value of a key among pairs; empty if there is no such pair.
func Value(pairs []KV, key string) string {
	if i := slices.IndexFunc(pairs, func(kv KV) bool { return kv.Key == key }); i >= 0 {
		return pairs[i].Value
	}
	return ""
}
