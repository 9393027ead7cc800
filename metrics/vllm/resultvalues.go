package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

// totals replaces computed numbers by those in the file, and computes missing ones: rates from its
// counts, and from its arrays, if there are any, what needs single requests. Goodput stays as
// computed if the ask has its own limits.
func (f *resultFile) totals(s *metrics.Summary, arrays, anew bool) {
	timed := arrays && f.has("start_times")
	computed := map[string]bool{
		"total_output_tokens": arrays, "failed": arrays && f.has("errors"), "max_output_tokens_per_s": timed,
		"max_concurrent_requests": timed,
	}
	for _, l := range keyedLines() {
		if l.label == "" && !f.has(l.key) || l.key == "" || anew && l.key == "request_goodput" {
			continue
		}
		before, _ := l.get(s)
		l.set(s, f.number(l.key))
		if given, _ := l.get(s); math.IsNaN(given) && computed[l.key] {
			l.set(s, before)
		}
	}
	input, output := rateOf(s.Totals.Input, s.When.Seconds), rateOf(s.Totals.Output, s.When.Seconds)
	if s.Header.Config.Traits.Pooled {
		output = 0
	}
	for to, rate := range map[*float64]float64{
		&s.Rates.Requests: rateOf(s.Completed, s.When.Seconds), &s.Rates.Input: input, &s.Rates.Output: output,
		&s.Rates.Total: input + output,
	} {
		if math.IsNaN(*to) {
			*to = rate
		}
	}
}

// rateOf is n a second; NaN if the count or the duration is unknown.
func rateOf(n int, seconds float64) float64 {
	if n < 0 || !(seconds > 0) {
		return math.NaN()
	}
	return float64(n) / seconds
}

func (f *resultFile) sections(s *metrics.Summary) {
	for _, lines := range [][]blockLine{probes, speculation, diffusion} {
		for i := range lines {
			if f.has(lines[0].key) {
				lines[i].set(s, f.number(lines[i].key))
			}
		}
	}
	if s.Printed.SpecDecode != nil {
		// Ignore a value that is not a list of numbers.
		_ = json.Unmarshal(f.value("spec_decode_per_position_acceptance_rates"), &s.Printed.SpecDecode.PerPosition)
	}
	var changes []struct {
		RPS       int
		Timestamp string
	}
	_ = json.Unmarshal(f.value("rps_change_events"), &changes)
	for _, c := range changes {
		if at, err := time.ParseInLocation("2006-01-02T15:04:05.999999", c.Timestamp, time.Local); err == nil {
			s.Printed.RateChanges = append(s.Printed.RateChanges, metrics.RateChange{RPS: c.RPS, At: at})
		}
	}
}

// outcomes reads the arrays of --save-detailed; nil if the file has none.
func (f *resultFile) outcomes() ([]metrics.Outcome, error) {
	if f.has("input_lens", "latencies", "errors", "total_input_sequences") {
		return f.pooled()
	}
	if !f.has("input_lens", "output_lens", "ttfts", "itls") {
		return nil, nil
	}
	var in, out []int
	var ttfts, starts, latencies, queues []float64
	var itls [][]float64
	var serverQueues, serverTTFTs []*float64
	var texts, errs []string
	err := f.columns(map[string]any{
		"input_lens": &in, "output_lens": &out, "ttfts": &ttfts, "itls": &itls, "start_times": &starts,
		"latencies": &latencies, "queue_times": &queues, "server_queue_times": &serverQueues, "server_ttfts": &serverTTFTs,
		"generated_texts": &texts, "errors": &errs,
	})
	if err != nil {
		return nil, err
	}
	n := len(in)
	if len(out) != n || len(ttfts) != n || len(itls) != n {
		return nil, fmt.Errorf("arrays of %d, %d, %d and %d requests", n, len(out), len(ttfts), len(itls))
	}
	if err := errors.Join(plausible("input_lens", in), plausible("output_lens", out)); err != nil {
		return nil, err
	}
	outcomes := make([]metrics.Outcome, n)
	for i := range outcomes {
		o := metrics.Outcome{Index: i, In: in[i], Out: out[i], TTFT: ttfts[i], ITL: itls[i],
			Start: at(starts, i), Queue: math.NaN(), Text: at(texts, i), Error: at(errs, i),
			ServerQueue: at(serverQueues, i), ServerTTFT: at(serverTTFTs, i)}
		o.Success = o.Error == "" && (errs != nil || o.Out > 0)
		if o.Latency = at(latencies, i); o.Latency == 0 && o.Success {
			o.Latency = o.TTFT + numpy.Sum(o.ITL)
		}
		if i < len(queues) {
			o.Queue = queues[i]
		}
		outcomes[i] = o
	}
	return outcomes, nil
}

// plausible is an error if a request has more tokens than any has. The sum might overflow.
func plausible(key string, tokens []int) error {
	for i, n := range tokens {
		if max(n, -n) > record.MaxTokens {
			return fmt.Errorf("%s: request %d has %d tokens: the most are %d", key, i, n, int(record.MaxTokens))
		}
	}
	return nil
}

// pooled reads the arrays of a run whose answers are numbers. They do not have the sequences of each
// request.
func (f *resultFile) pooled() ([]metrics.Outcome, error) {
	var in []int
	var latencies, queues []float64
	var errs []string
	err := f.columns(map[string]any{"input_lens": &in, "latencies": &latencies, "queue_times": &queues, "errors": &errs})
	if err != nil {
		return nil, err
	}
	n := len(in)
	if len(latencies) != n || len(queues) != n || len(errs) != n {
		return nil, fmt.Errorf("arrays of %d, %d, %d and %d requests", n, len(latencies), len(queues), len(errs))
	}
	if err := plausible("input_lens", in); err != nil {
		return nil, err
	}
	outcomes := make([]metrics.Outcome, n)
	for i := range outcomes {
		outcomes[i] = metrics.Outcome{Index: i, Success: errs[i] == "", Unstreamed: true, In: in[i], TTFT: latencies[i],
			Latency: latencies[i], Queue: queues[i], Error: errs[i]}
	}
	return outcomes, nil
}

// timings reads the arrays that vLLM since 0.30.0 also writes without --save-detailed; nil if the
// file has none.
func (f *resultFile) timings() ([]metrics.Timing, error) {
	if !f.has("latencies", "queue_times") {
		return nil, nil
	}
	var latencies, queues []float64
	if err := f.columns(map[string]any{"latencies": &latencies, "queue_times": &queues}); err != nil {
		return nil, err
	}
	if len(latencies) != len(queues) {
		return nil, fmt.Errorf("arrays of %d and %d requests", len(latencies), len(queues))
	}
	timings := make([]metrics.Timing, len(queues))
	for i := range timings {
		timings[i] = metrics.Timing{Index: i, Latency: latencies[i], Queue: queues[i]}
	}
	return timings, nil
}

// at is list[i], zero when the list is too short.
func at[T any](list []T, i int) T {
	if i < len(list) {
		return list[i]
	}
	var zero T
	return zero
}

// warn says which part of the ask is missing, or only an estimate.
func (f *resultFile) warn(s *metrics.Summary, ask metrics.Ask) {
	// A chat's latency ends at the usage chunk, which is not in the arrays.
	estimated := !f.has("latencies") && strings.Contains(f.text("backend"), "chat")
	s.TPOT.Rough, s.E2EL.Rough = estimated, estimated
	const missing = "computed without the wait for the usage chunk, which the file does not hold"
	if estimated && (computes(&s.TPOT, &s.Header.Config, "tpot") || computes(&s.E2EL, &s.Header.Config, "e2el")) {
		s.Ending.Warn("tpot and e2el are approximate where the file does not give them: " + missing)
	}
	if len(ask.Goodput) > 0 && !f.has("input_lens") {
		s.Ending.Warn("goodput cannot be recomputed: the file does not hold the single requests")
	} else if limitsTTFO(ask.Goodput) {
		s.Ending.Warn("goodput cannot be recomputed: the file does not hold the requests' ttfo")
	} else if len(ask.Goodput) > 0 && estimated {
		s.Ending.Warn("goodput is approximate: " + missing)
	}
	warnUnknown(s)
}

// limitsTTFO reports that one of the limits is on the TTFO, which no result file has.
func limitsTTFO(slos []metrics.SLO) bool {
	return slices.ContainsFunc(slos, func(slo metrics.SLO) bool { return slo.Metric == "ttfo" })
}

// computes reports that some statistic of a selected metric comes from values.
func computes(d *metrics.Distribution, c *metrics.Config, metric string) bool {
	if !c.Selected(metric) || d.Len() == 0 {
		return false
	}
	if d.Quoted == nil || math.IsNaN(d.Quoted.Mean) {
		return true
	}
	return slices.ContainsFunc(c.Percentiles, func(p float64) bool {
		_, quoted := d.Quoted.Percentiles[p]
		return !quoted
	})
}

// warnUnknown names the selected metrics that are unknown.
func warnUnknown(s *metrics.Summary) {
	c := &s.Header.Config
	for _, m := range metrics.Metrics {
		if !c.Selected(m.Name) {
			continue
		}
		d := m.Of(s)
		lacking := ""
		for _, p := range slices.Backward(c.Percentiles) {
			if math.IsNaN(d.Percentile(p)) {
				lacking = "P" + metrics.FormatPercentile(p) + " of " + m.Name
			}
		}
		if math.IsNaN(d.Mean()) {
			lacking = m.Name
		}
		if lacking != "" {
			s.Ending.Warn(lacking + " is not known: neither it nor the single values were given")
		}
	}
}

// server is the start of the server that the run measured, nil if the file does not say.
func (f *resultFile) server() *metrics.ServerStart {
	var start metrics.ServerStart
	if json.Unmarshal(f.value("server"), &start) != nil || start.ID == "" {
		return nil
	}
	return &start
}

// trust is the verdict that servebench wrote into the file, nil without one.
func (f *resultFile) trust() *verdict.Trust {
	var t struct {
		Verdict verdict.Verdict
		Checks  []struct {
			Name, Unit, Text, Remedy string
			Figure                   *float64
			Least                    *float64 `json:"at_least"`
			Most                     *float64 `json:"at_most"`
			OK                       bool
		}
		Notes, Warnings []string
	}
	if json.Unmarshal(f.value("trust"), &t) != nil ||
		!slices.Contains([]verdict.Verdict{verdict.Valid, verdict.Suspect, verdict.Overloaded}, t.Verdict) {
		return nil
	}
	trust := &verdict.Trust{Verdict: t.Verdict, Notes: t.Notes, Warnings: t.Warnings}
	for _, c := range t.Checks {
		check := verdict.Check{Name: c.Name, Figure: orNaN(c.Figure), Unit: c.Unit, Limit: orNaN(c.Most), OK: c.OK,
			Text: c.Text, Remedy: c.Remedy}
		if c.Least != nil {
			check.Limit, check.AtLeast = *c.Least, true
		}
		trust.Checks = append(trust.Checks, check)
	}
	return trust
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
