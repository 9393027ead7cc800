package vllm

import (
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Result is what vLLM has in a result file.
func Result(s *metrics.Summary, v Version) pyjson.Object {
	var d Dict
	asked(&d, s)
	totalled(&d, s, v)
	detailed(&d, s, v)
	if v.Since(11, 0) {
		peaks(&d, s)
	}
	if v.Since(17, 0) {
		d.setKnown("rtfx", s.RTFx)
	}
	if v.Since(33, 0) {
		serverTimes(&d, s.Outcomes)
	}
	sections(&d, s, v)
	selected(&d, s, v)
	return d.Object
}

// PartNumbers are the numbers of a part of a run under the keys that they have for the
// whole.
func PartNumbers(s *metrics.Summary) pyjson.Object {
	var d Dict
	totalled(&d, s, Version{})
	peaks(&d, s)
	selected(&d, s, Version{})
	return d.Object
}

func asked(d *Dict, s *metrics.Summary) {
	c := &s.Header.Config
	d.Set("date", nil)
	if !s.Date.IsZero() {
		d.Set("date", s.Date.Format(fileTime))
	}
	d.Set("endpoint_type", orNull(c.Backend))
	d.Set("backend", orNull(c.Backend))
	d.Set("label", orNull(c.Label))
	d.Set("model_id", orNull(c.Model))
	d.Set("tokenizer_id", orNull(c.Tokenizer))
	d.Set("num_prompts", nil)
	d.setCount("num_prompts", c.NumPrompts)
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

func totalled(d *Dict, s *metrics.Summary, v Version) {
	d.setKnown("duration", s.Seconds)
	d.setCount("completed", s.Completed)
	if v.Since(11, 1) {
		d.setCount("failed", s.Failed)
	}
	d.setCount("total_input_tokens", s.TotalInput)
	d.setCount("total_output_tokens", s.TotalOutput)
	d.setKnown("request_throughput", s.RequestThroughput)
	d.Set("request_goodput", nil)
	d.setKnown("request_goodput", s.Goodput)
	d.setKnown("output_throughput", s.OutputThroughput)
	d.setKnown("total_token_throughput", s.TotalThroughput)
}

func peaks(d *Dict, s *metrics.Summary) {
	d.setKnown("max_output_tokens_per_s", s.PeakOutput)
	d.setCount("max_concurrent_requests", s.PeakConcurrent)
}

// detailed lays the outcomes out by column; failed ones keep their place. Latencies
// and queue times are there without the others, too: vLLM does not leave them out.
func detailed(d *Dict, s *metrics.Summary, v Version) {
	if o := s.Outcomes; o != nil {
		d.Set("input_lens", columnOf(o, func(o metrics.Outcome) int { return o.In }))
		d.Set("output_lens", columnOf(o, func(o metrics.Outcome) int { return o.Out }))
		d.Set("ttfts", columnOf(o, func(o metrics.Outcome) float64 { return o.TTFT }))
		d.Set("itls", columnOf(o, func(o metrics.Outcome) []float64 { return o.ITL }))
	}
	lasting := s.Lastings != nil && v.Since(30, 0)
	if lasting {
		d.Set("latencies", columnOf(s.Lastings, func(l metrics.Lasting) float64 { return l.Latency }))
	}
	if s.Outcomes != nil && v.Since(15, 0) {
		d.Set("start_times", columnOf(s.Outcomes, func(o metrics.Outcome) float64 { return o.Start }))
	}
	if lasting {
		d.Set("queue_times", columnOf(s.Lastings, func(l metrics.Lasting) float64 { return l.Queue }))
	}
	if o := s.Outcomes; o != nil {
		d.Set("generated_texts", columnOf(o, func(o metrics.Outcome) string { return o.Text }))
		d.Set("errors", columnOf(o, func(o metrics.Outcome) string { return o.Error }))
	}
}

// serverTimes are those of all requests, if the server told of any.
func serverTimes(d *Dict, outcomes []metrics.Outcome) {
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

func sections(d *Dict, s *metrics.Summary, v Version) {
	if p := s.Probes; p != nil && v.Since(27, 0) {
		d.setCount("probe_completed", p.Completed)
		d.setCount("probe_failed", p.Failed)
		d.setKnown("probe_median_e2el_ms", p.Median)
		d.setKnown("probe_p99_e2el_ms", p.P99)
		d.setKnown("probe_max_e2el_ms", p.Max)
	}
	if reached := s.Reached(); reached != nil {
		changes := make([]pyjson.Object, len(reached))
		for i, c := range reached {
			changes[i] = pyjson.Object{{Key: "rps", Value: c.RPS}, {Key: "timestamp", Value: isoFormat(c.At)}}
		}
		d.Set("rps_change_events", changes)
	}
	if p := s.SpecDecode; p != nil && v.Since(14, 0) {
		d.setKnown("spec_decode_acceptance_rate", p.AcceptanceRate)
		d.setKnown("spec_decode_acceptance_length", p.AcceptanceLength)
		d.setCount("spec_decode_num_drafts", int(p.Drafts))
		d.setCount("spec_decode_draft_tokens", int(p.DraftTokens))
		d.setCount("spec_decode_accepted_tokens", int(p.AcceptedTokens))
		d.Set("spec_decode_per_position_acceptance_rates", p.PerPosition)
	}
	if p := s.Diffusion; p != nil && v.Since(24, 0) {
		d.setKnown("diffusion_committed_throughput", p.CommittedThroughput)
		d.setKnown("diffusion_steps_per_canvas", p.StepsPerCanvas)
		d.setKnown("diffusion_committed_per_step", p.CommittedPerStep)
		d.setCount("diffusion_committed_tokens", int(p.CommittedTokens))
		d.setCount("diffusion_denoising_steps", int(p.DenoisingSteps))
		d.setCount("diffusion_canvas_positions", int(p.CanvasPositions))
	}
}

// selected are the statistics of the metrics that the run reports.
func selected(d *Dict, s *metrics.Summary, v Version) {
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
	var d Dict
	statistics(&d, name, dist, percentiles)
	return d.Object
}

func statistics(d *Dict, name string, dist *metrics.Distribution, percentiles []float64) {
	d.setKnown("mean_"+name+"_ms", dist.Mean())
	d.setKnown("median_"+name+"_ms", dist.Median())
	d.setKnown("std_"+name+"_ms", dist.Std())
	for _, p := range percentiles {
		d.setKnown("p"+metrics.FormatPercentile(p)+"_"+name+"_ms", dist.Percentile(p))
	}
}
