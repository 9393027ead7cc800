package metrics

import (
	"math"
	"slices"
	"time"
)

// A Header says what a run was. It opens the run's record stream.
type Header struct {
	Run         string        // id, unique to the run
	Shard       int           // this shard's index, from 0
	Shards      int           // how many shards make the run; 0 and 1 both mean one
	Epoch       time.Time     // wall clock at the start: offset 0 of every Record
	ClockOffset time.Duration // wall clock less the reference clock, when known
	Version     string        // of the program that made the stream
	Config      Config
}

// A Config is what was asked for, without secrets: what the block and the
// result file need, under the names of vLLM's flags.
type Config struct {
	Backend        string
	BaseURL        string
	Endpoint       string
	Model          string // model id, as vLLM's model_id
	Tokenizer      string // its name, as vLLM's tokenizer_id; empty when none was loaded
	SkipTokenizer  bool   // --skip-tokenizer-init: what counts output tokens is not reported
	Dataset        string
	Seed           int64
	NumPrompts     int
	RequestRate    float64 // requests a second; +Inf for all at once
	Burstiness     float64
	MaxConcurrency int // 0 means no limit
	RampUp         *RampUp
	SelfTimed      bool // due times came from the dataset's own timestamps
	Label          string
	Metadata       []KV

	Goodput     []SLO
	Metrics     []string  // --percentile-metrics: ttft, tpot, itl, e2el
	Percentiles []float64 // --metric-percentiles, 0 to 100, in the order given
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

// A RampUp is a request rate that grows over the request index.
type RampUp struct {
	Strategy string // linear or exponential
	Start    int    // requests a second
	End      int    // requests a second
}

// An SLO is an upper limit on one latency of a request.
type SLO struct {
	Metric string  // ttft, tpot or e2el
	Limit  float64 // milliseconds, inclusive
}

// A KV is one --metadata pair. The order of pairs is kept.
type KV struct{ Key, Value string }
