package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// resultKeys are the keys that identify a result file of vLLM.
var resultKeys = []string{"duration", "completed", "total_input_tokens"}

// ErrNoResult says that the input has no result of vLLM.
var ErrNoResult = errors.New("no JSON object with the keys " + strings.Join(resultKeys, ", "))

// ReadResults reads vLLM's result JSON: one object, or several one after the other as
// --append-result writes them. It quotes what an object gives. What is missing and the ask wants,
// it computes from the object's arrays, if there are any, and marks as approximate if they lack
// something that vLLM had. It skips objects of another kind.
func ReadResults(r io.Reader, ask metrics.Ask) ([]*metrics.Summary, error) {
	var sums []*metrics.Summary
	d := json.NewDecoder(pyjson.Strict(r))
	for n := 1; ; n++ {
		object, err := decodeObject(d)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading JSON object %d: %w", n, err)
		}
		f := resultFile{object}
		if !f.has(resultKeys...) {
			continue
		}
		s, err := f.summary(ask)
		if err != nil {
			return nil, fmt.Errorf("reading JSON object %d: %w", n, err)
		}
		sums = append(sums, s)
	}
	if len(sums) == 0 {
		return nil, ErrNoResult
	}
	return sums, nil
}

// A resultFile is one result of vLLM as it was written.
type resultFile struct{ members }

func (f *resultFile) summary(ask metrics.Ask) (*metrics.Summary, error) {
	given := &metrics.Header{Run: f.text("run_id"), Server: f.server(), Definitions: f.definitions(), Config: f.config()}
	asked := ask.Apply(given)
	outcomes, err := f.outcomes()
	if err != nil {
		return nil, err
	}
	c := metrics.NewCollector(asked)
	for _, o := range outcomes {
		c.AddOutcome(o)
	}
	timings, err := f.timings()
	if err != nil {
		return nil, err
	}
	if outcomes == nil {
		c.AddTimings(timings, f.count("completed"))
	}
	s := c.Summary(f.number("duration"))
	s.Truth = nil // it needs Records
	if given.Run == "" {
		s.Source.Fingerprint = f.fingerprint()
	}
	s.Trust, s.Ending.Interrupted, s.Ending.Incomplete = f.trust(), f.flag("interrupted"), f.texts("incomplete")
	s.Ending.StoppedBy = f.text("stopped_by")
	if of := f.readSessions(); of != nil {
		if ask.Goodput != nil {
			of.Goodput = math.NaN()
		}
		sessions.Give(s, of)
	}
	if all := f.readAdapters(ask.Goodput != nil); all != nil {
		adapters.Give(s, all)
	}
	s.Ending.Warn(s.Ending.Incomplete...)
	// Without a readable date, the date stays unknown.
	s.When.Date, _ = time.ParseInLocation("20060102-150405", f.text("date"), time.Local)
	f.totals(s, outcomes != nil, ask.Goodput != nil && outcomes != nil)
	if limitsTTFO(ask.Goodput) {
		s.Rates.Goodput = math.NaN()
	}
	if s.Header.Config.Traits.Pooled && s.Failed < 0 && timings != nil && s.Completed >= 0 {
		s.Failed = max(0, len(timings)-s.Completed) // the file of a pooling endpoint does not count them
	}
	f.sections(s)
	for _, m := range metrics.Metrics {
		q := f.quote(m.Name)
		if outcomes != nil || s.Completed == 0 {
			q.Empty = 0
		}
		m.Of(s).Quoted = q
	}
	if ask.Outcomes {
		s.Kept.Outcomes = outcomes
	}
	if ask.Timings {
		s.Kept.Timings = timings
	}
	f.warn(s, ask)
	return s, nil
}

// definitions are what servebench wrote, or 0.30.0's for a chat in a file from before vLLM wrote latencies. Later
// files by vLLM itself do not say.
func (f *resultFile) definitions() record.Definitions {
	var ours struct{ Definitions record.Definitions }
	if raw := f.value("truth"); raw != nil && json.Unmarshal(raw, &ours) == nil && ours.Definitions != "" {
		return ours.Definitions
	}
	if config := f.config(); !f.has("latencies") && !config.Traits.Pooled {
		return record.Definitions030
	}
	return ""
}

// config is what the file says about the run's parameters.
func (f *resultFile) config() metrics.Config {
	c := metrics.Config{
		Backend: f.text("backend"), Model: f.text("model_id"), Tokenizer: f.text("tokenizer_id"),
		NumPrompts: f.count("num_prompts"), MaxConcurrency: max(f.count("max_concurrency"), 0),
		RequestRate: f.number("request_rate"), Burstiness: f.number("burstiness"), Label: f.text("label"),
		Metadata: f.metadata(), Traits: traits(f.text("backend")),
	}
	if strategy := f.text("ramp_up_strategy"); strategy != "" {
		c.RampUp = &metrics.RampUp{Strategy: strategy, Start: max(f.count("ramp_up_start_rps"), 0),
			End: max(f.count("ramp_up_end_rps"), 0)}
	}
	for _, m := range metrics.Metrics {
		if f.has("mean_" + m.Name + "_ms") {
			c.Metrics = append(c.Metrics, m.Name)
		}
	}
	c.Whole = c.Traits.Pooled
	c.Percentiles = f.percentiles()
	// vLLM without a tokenizer hides counts of tokens from its user, but writes them to the file.
	c.SkipTokenizer = c.Tokenizer == "" && f.hasKey("tokenizer_id") &&
		!f.has("mean_ttft_ms") && !f.has("mean_tpot_ms") && !f.has("mean_itl_ms")
	return c
}

// traits are what vLLM's name of an API says. Its files say nothing else about the API.
func traits(backend string) metrics.Traits {
	pooled := strings.Contains(backend, "embeddings") || strings.HasSuffix(backend, "-pooling") ||
		strings.HasSuffix(backend, "-rerank")
	spoken := strings.HasSuffix(backend, "-audio")
	return metrics.Traits{Pooled: pooled, Spoken: spoken, Chat: strings.Contains(backend, "chat") && !pooled || spoken}
}

// configKeys come between date and request_rate; all other keys there are --metadata.
var configKeys = []string{"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id", "num_prompts"}

func (f *resultFile) metadata() []metrics.KV {
	end := slices.IndexFunc(f.members, func(m member) bool { return m.key == "request_rate" })
	if end < 0 {
		return nil
	}
	var kvs []metrics.KV
	for _, m := range f.members[:end] {
		if !slices.Contains(configKeys, m.key) {
			if s := f.text(m.key); s != "" || string(m.value) == `""` {
				kvs = append(kvs, metrics.KV{Key: m.key, Value: s})
			}
		}
	}
	return append(kvs, f.combination()...)
}

// runNumber is the key after which vLLM's sweep writes the parameters of a run.
const runNumber = "run_number"

// combination is what vLLM's sweep writes into the file of a run: its parameters, and its number,
// which counts from 0.
func (f *resultFile) combination() (kvs []metrics.KV) {
	start := slices.IndexFunc(f.members, func(m member) bool { return m.key == runNumber })
	if start < 0 {
		return nil
	}
	for _, m := range f.members[start+1:] {
		var text string
		if json.Unmarshal(m.value, &text) != nil {
			text = string(m.value)
		}
		kvs = append(kvs, metrics.KV{Key: m.key, Value: text})
	}
	return append(kvs, metrics.KV{Key: "repeat", Value: strconv.Itoa(f.count(runNumber) + 1)})
}

// percentiles are those that the file has of any metric, in its order.
func (f *resultFile) percentiles() []float64 {
	var ps []float64
	for _, m := range f.members {
		p, _, ok := percentileKey(m.key)
		if ok && !slices.Contains(ps, p) {
			ps = append(ps, p)
		}
	}
	return ps
}

// percentileKey splits p99.9_ttft_ms.
func percentileKey(key string) (p float64, metric string, ok bool) {
	number, metric, ok := strings.Cut(strings.TrimPrefix(key, "p"), "_")
	metric, isMS := strings.CutSuffix(metric, "_ms")
	p, err := strconv.ParseFloat(number, 64)
	known := slices.ContainsFunc(metrics.Metrics, func(m metrics.Latency) bool { return m.Name == metric })
	return p, metric, ok && isMS && known && err == nil && key[0] == 'p' && p >= 0 && p <= 100
}

func (f *resultFile) quote(metric string) *metrics.Quote {
	q := metrics.NewQuote()
	q.Mean = f.number("mean_" + metric + "_ms")
	q.Median = f.number("median_" + metric + "_ms")
	q.Std = f.number("std_" + metric + "_ms")
	for _, m := range f.members {
		if p, of, ok := percentileKey(m.key); ok && of == metric {
			q.Percentiles[p] = f.number(m.key)
		}
	}
	q.Values = f.samples(metric)
	return q
}

// samples is how many samples of a latency servebench had; 0 if the file does not say.
func (f *resultFile) samples(metric string) int {
	var ours struct {
		Samples []struct {
			Metric  string
			Samples int
		}
	}
	if raw := f.value("truth"); raw == nil || json.Unmarshal(raw, &ours) != nil {
		return 0
	}
	for _, s := range ours.Samples {
		if s.Metric == metric {
			return s.Samples
		}
	}
	return 0
}
