package vllm

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// An object is a result file under construction.
type object struct{ pyjson.Object }

// setKnown sets a number unless it is unknown.
func (d *object) setKnown(key string, v float64) {
	if !math.IsNaN(v) {
		d.Set(key, v)
	}
}

// put sets the numbers of these keys that are known.
func (d *object) put(s *metrics.Summary, keys ...string) {
	for _, key := range keys {
		v, whole := keyed[key].get(s)
		if whole && !math.IsNaN(v) {
			d.Set(key, int(v))
		} else {
			d.setKnown(key, v)
		}
	}
}

// putAll is put for all lines of a section.
func (d *object) putAll(s *metrics.Summary, lines []blockLine) {
	for i := range lines {
		d.put(s, lines[i].key)
	}
}

// Result is vLLM's result file.
func Result(s *metrics.Summary, v Version) pyjson.Object {
	var d object
	asked(&d, s)
	if s.Header.Config.Traits.Pooled {
		pooled(&d, s, v)
	} else {
		generated(&d, s, v)
	}
	if v.Since(33, 0) {
		serverTimes(&d, s.Kept.Outcomes)
	}
	sections(&d, s, v)
	selected(&d, s, v)
	return d.Object
}

// generated are the numbers of a run whose answers are text.
func generated(d *object, s *metrics.Summary, v Version) {
	totalled(d, s, v)
	detailed(d, s, v)
	if v.Since(11, 0) {
		peaks(d, s)
	}
	if v.Since(17, 0) {
		d.put(s, "rtfx")
	}
}

// pooled are the numbers of a run whose answers are numbers. Its outcomes have no text, and its
// failed requests are only in the block.
func pooled(d *object, s *metrics.Summary, v Version) {
	d.put(s, "duration", "completed", "total_input_tokens")
	if v.Since(29, 0) {
		d.put(s, "total_input_sequences", "request_throughput", "input_sequence_throughput")
	} else {
		d.put(s, "request_throughput")
	}
	d.put(s, "total_token_throughput")
	if s.Kept.Outcomes != nil {
		d.Set("input_lens", columnOf(s.Kept.Outcomes, func(o metrics.Outcome) int { return o.In }))
	}
	if s.Kept.Timings != nil && v.Since(30, 0) {
		d.Set("latencies", columnOf(s.Kept.Timings, func(l metrics.Timing) float64 { return l.Latency }))
		d.Set("queue_times", columnOf(s.Kept.Timings, func(l metrics.Timing) float64 { return l.Queue }))
	}
	if s.Kept.Outcomes != nil {
		d.Set("errors", columnOf(s.Kept.Outcomes, func(o metrics.Outcome) string { return o.Error }))
	}
}

// PartNumbers are the numbers of a part of a run under the keys of the whole run's numbers.
func PartNumbers(s *metrics.Summary) pyjson.Object {
	var d object
	totalled(&d, s, Version{})
	peaks(&d, s)
	if s.Header.Config.Traits.Pooled {
		d.put(s, "total_input_sequences", "input_sequence_throughput")
	}
	selected(&d, s, Version{})
	return d.Object
}

func asked(d *object, s *metrics.Summary) {
	c := &s.Header.Config
	d.Set("date", nil)
	if !s.When.Date.IsZero() {
		d.Set("date", s.When.Date.Format(fileTime))
	}
	d.Set("endpoint_type", orNull(c.Backend))
	d.Set("backend", orNull(c.Backend))
	d.Set("label", orNull(c.Label))
	d.Set("model_id", orNull(c.Model))
	d.Set("tokenizer_id", orNull(c.Tokenizer))
	d.Set("num_prompts", nil)
	if c.NumPrompts >= 0 {
		d.Set("num_prompts", c.NumPrompts)
	}
	for _, kv := range c.Metadata {
		d.Set(kv.Key, kv.Value)
	}
	d.Set("request_rate", nil)
	if math.IsInf(c.RequestRate, 1) {
		d.Set("request_rate", "inf")
	} else {
		d.setKnown("request_rate", c.RequestRate)
	}
	d.Set("burstiness", nil)
	d.setKnown("burstiness", c.Burstiness)
	d.Set("max_concurrency", nil)
	if c.MaxConcurrency > 0 {
		d.Set("max_concurrency", c.MaxConcurrency)
	}
	if r := c.RampUp; r != nil {
		d.Set("ramp_up_strategy", r.Strategy)
		d.Set("ramp_up_start_rps", r.Start)
		d.Set("ramp_up_end_rps", r.End)
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// totalled are the numbers of a whole run, except the peaks.
func totalled(d *object, s *metrics.Summary, v Version) {
	d.put(s, "duration", "completed")
	if v.Since(11, 1) {
		d.put(s, "failed")
	}
	d.put(s, "total_input_tokens", "total_output_tokens", "request_throughput")
	d.Set("request_goodput", nil)
	d.put(s, "request_goodput", "output_throughput", "total_token_throughput")
}

func peaks(d *object, s *metrics.Summary) {
	d.put(s, "max_output_tokens_per_s", "max_concurrent_requests")
}

// detailed writes the outcomes in columns; failed ones keep their place. Latencies and queue times
// may be there without the other columns, since vLLM never leaves them out.
func detailed(d *object, s *metrics.Summary, v Version) {
	if o := s.Kept.Outcomes; o != nil {
		d.Set("input_lens", columnOf(o, func(o metrics.Outcome) int { return o.In }))
		d.Set("output_lens", columnOf(o, func(o metrics.Outcome) int { return o.Out }))
	}
	if o := s.Kept.Outcomes; o != nil && !s.Header.Config.Whole {
		d.Set("ttfts", columnOf(o, func(o metrics.Outcome) float64 { return o.TTFT }))
		d.Set("itls", columnOf(o, func(o metrics.Outcome) []float64 { return o.ITL }))
	}
	timing := s.Kept.Timings != nil && v.Since(30, 0)
	if timing {
		d.Set("latencies", columnOf(s.Kept.Timings, func(l metrics.Timing) float64 { return l.Latency }))
	}
	if s.Kept.Outcomes != nil && v.Since(15, 0) {
		d.Set("start_times", columnOf(s.Kept.Outcomes, func(o metrics.Outcome) float64 { return o.Start }))
	}
	if timing {
		d.Set("queue_times", columnOf(s.Kept.Timings, func(l metrics.Timing) float64 { return l.Queue }))
	}
	if o := s.Kept.Outcomes; o != nil {
		d.Set("generated_texts", columnOf(o, func(o metrics.Outcome) string { return o.Text }))
		d.Set("errors", columnOf(o, func(o metrics.Outcome) string { return o.Error }))
	}
}

// serverTimes adds the server's times of all requests, if it sent any.
func serverTimes(d *object, outcomes []metrics.Outcome) {
	told := func(o metrics.Outcome) bool { return o.ServerQueue != nil || o.ServerTTFT != nil }
	if slices.ContainsFunc(outcomes, told) {
		d.Set("server_queue_times", columnOf(outcomes, func(o metrics.Outcome) any { return orNone(o.ServerQueue) }))
		d.Set("server_ttfts", columnOf(outcomes, func(o metrics.Outcome) any { return orNone(o.ServerTTFT) }))
	}
}

// orNone is a number, or null.
func orNone(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// columnOf is one value of each request.
func columnOf[R, T any](requests []R, of func(R) T) []T {
	values := make([]T, len(requests))
	for i, r := range requests {
		values[i] = of(r)
	}
	return values
}

func sections(d *object, s *metrics.Summary, v Version) {
	if s.Printed.Probes != nil && v.Since(27, 0) {
		d.putAll(s, probes)
	}
	if reached := s.Reached(); reached != nil {
		changes := make([]pyjson.Object, len(reached))
		for i, c := range reached {
			changes[i] = pyjson.Object{{Key: "rps", Value: c.RPS}, {Key: "timestamp", Value: isoFormat(c.At)}}
		}
		d.Set("rps_change_events", changes)
	}
	if s.Printed.SpecDecode != nil && v.Since(14, 0) {
		d.putAll(s, speculation)
		d.Set("spec_decode_per_position_acceptance_rates", s.Printed.SpecDecode.PerPosition)
	}
	if s.Printed.Diffusion != nil && v.Since(24, 0) {
		d.putAll(s, diffusion)
	}
}

// selected are the statistics of the metrics that the run reports.
func selected(d *object, s *metrics.Summary, v Version) {
	for _, m := range metrics.Metrics {
		if queued := strings.Contains(m.Name, "client_queue"); queued && !v.Since(30, 0) {
			continue
		}
		if s.Header.Config.Selected(m.Name) {
			statistics(d, m.Name, m.Of(s), s.Header.Config.Percentiles)
		}
	}
}

// Statistics are the statistics of a latency under their keys.
func Statistics(name string, dist *metrics.Distribution, percentiles []float64) pyjson.Object {
	var d object
	statistics(&d, name, dist, percentiles)
	return d.Object
}

func statistics(d *object, name string, dist *metrics.Distribution, percentiles []float64) {
	d.setKnown("mean_"+name+"_ms", dist.Mean())
	d.setKnown("median_"+name+"_ms", dist.Median())
	d.setKnown("std_"+name+"_ms", dist.Std())
	for _, p := range percentiles {
		d.setKnown("p"+metrics.FormatPercentile(p)+"_"+name+"_ms", dist.Percentile(p))
	}
}

// fileTime is how vLLM writes a moment in names and in the date key.
const fileTime = "20060102-150405"

// ResultName is vLLM's default name for a result file; t is the end of the run, written in its own
// time zone.
func ResultName(c *metrics.Config, t time.Time) string {
	label := c.Label
	if label == "" {
		label = c.Backend
	}
	load := metrics.FormatFloat(c.RequestRate) + "qps"
	if r := c.RampUp; r != nil {
		load = fmt.Sprintf("ramp-up-%s-%dqps-%dqps", r.Strategy, r.Start, r.End)
	}
	if c.MaxConcurrency > 0 {
		load += fmt.Sprintf("-concurrency%d", c.MaxConcurrency)
	}
	return fmt.Sprintf("%s-%s-%s-%s.json", label, load, path.Base(c.Model), t.Format(fileTime))
}

// isoFormat writes a moment as Python's datetime.isoformat writes one without a zone: with microseconds,
// unless they are zero.
func isoFormat(t time.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04:05.000000")
}
