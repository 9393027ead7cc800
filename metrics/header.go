package metrics

import "time"

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
