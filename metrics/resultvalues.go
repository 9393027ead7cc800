package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// totals replaces what was computed by what the file says. Goodput stays as
// computed when it was asked for anew.
func (f *resultFile) totals(s *Summary, anew bool) {
	s.Completed, s.Failed = f.count("completed"), f.count("failed")
	s.TotalInput, s.TotalOutput = f.count("total_input_tokens"), f.count("total_output_tokens")
	s.RequestThroughput = f.number("request_throughput")
	s.InputThroughput = f.number("input_throughput")
	s.InputRate = f.number("input_sequence_throughput")
	if !anew {
		s.Goodput = f.number("request_goodput")
	}
	s.OutputThroughput = f.number("output_throughput")
	s.TotalThroughput = f.number("total_token_throughput")
	s.PeakOutput = f.number("max_output_tokens_per_s")
	s.PeakConcurrent = f.count("max_concurrent_requests")
	s.RTFx = f.number("rtfx")
}

func (f *resultFile) hasKey(key string) bool {
	return slices.ContainsFunc(f.members, func(m member) bool { return m.key == key })
}

func (f *resultFile) sections(s *Summary) {
	if f.has("probe_completed") {
		s.Probes = &Probes{
			Completed: f.count("probe_completed"), Failed: f.count("probe_failed"),
			Median: f.number("probe_median_e2el_ms"), P99: f.number("probe_p99_e2el_ms"), Max: f.number("probe_max_e2el_ms"),
		}
	}
	if f.has("spec_decode_acceptance_rate") {
		s.SpecDecode = &SpecDecode{
			AcceptanceRate:   f.number("spec_decode_acceptance_rate"),
			AcceptanceLength: f.number("spec_decode_acceptance_length"),
			Drafts:           int64(f.count("spec_decode_num_drafts")),
			DraftTokens:      int64(f.count("spec_decode_draft_tokens")),
			AcceptedTokens:   int64(f.count("spec_decode_accepted_tokens")),
		}
		// A list that is not one of numbers is no list.
		_ = json.Unmarshal(f.value("spec_decode_per_position_acceptance_rates"), &s.SpecDecode.PerPosition)
	}
	if f.has("diffusion_committed_throughput") {
		s.Diffusion = &Diffusion{
			CommittedThroughput: f.number("diffusion_committed_throughput"),
			StepsPerCanvas:      f.number("diffusion_steps_per_canvas"),
			CommittedPerStep:    f.number("diffusion_committed_per_step"),
			CommittedTokens:     int64(f.count("diffusion_committed_tokens")),
			DenoisingSteps:      int64(f.count("diffusion_denoising_steps")),
			CanvasPositions:     int64(f.count("diffusion_canvas_positions")),
		}
	}
	var changes []struct {
		RPS       int
		Timestamp string
	}
	_ = json.Unmarshal(f.value("rps_change_events"), &changes)
	for _, c := range changes {
		if at, err := time.ParseInLocation("2006-01-02T15:04:05.999999", c.Timestamp, time.Local); err == nil {
			s.RateChanges = append(s.RateChanges, RateChange{c.RPS, at})
		}
	}
}

// outcomes reads the arrays of --save-detailed; nil when the file has none.
func (f *resultFile) outcomes() ([]Outcome, error) {
	if !f.has("input_lens", "output_lens", "ttfts", "itls") {
		return nil, nil
	}
	var in, out []int
	var ttfts, starts, latencies []float64
	var itls [][]float64
	var texts, errs []string
	for _, column := range []struct {
		key string
		to  any
	}{
		{"input_lens", &in}, {"output_lens", &out}, {"ttfts", &ttfts}, {"itls", &itls}, {"start_times", &starts},
		{"latencies", &latencies}, {"generated_texts", &texts}, {"errors", &errs},
	} {
		if raw := f.value(column.key); raw != nil {
			if err := json.Unmarshal(raw, column.to); err != nil {
				return nil, fmt.Errorf("%s: %w", column.key, err)
			}
		}
	}
	n := len(in)
	if len(out) != n || len(ttfts) != n || len(itls) != n {
		return nil, fmt.Errorf("arrays of %d, %d, %d and %d requests", n, len(out), len(ttfts), len(itls))
	}
	outcomes := make([]Outcome, n)
	for i := range outcomes {
		o := Outcome{Index: i, In: in[i], Out: out[i], TTFT: ttfts[i], ITL: itls[i],
			Start: at(starts, i), Text: at(texts, i), Error: at(errs, i)}
		o.Success = o.Error == "" && (errs != nil || o.Out > 0)
		if o.Latency = at(latencies, i); o.Latency == 0 && o.Success {
			o.Latency = o.TTFT + pairwise(o.ITL)
		}
		outcomes[i] = o
	}
	return outcomes, nil
}

// at is list[i], zero when the list is too short.
func at[T any](list []T, i int) T {
	if i < len(list) {
		return list[i]
	}
	var zero T
	return zero
}

// warn says what of the ask cannot be had, or is only an estimate.
func (f *resultFile) warn(s *Summary, ask Ask) {
	// A chat's latency ends at the usage chunk, which the arrays do not hold.
	estimated := !f.has("latencies") && strings.Contains(f.text("backend"), "chat")
	s.TPOT.rough, s.E2EL.rough = estimated, estimated
	const missing = "computed without the wait for the usage chunk, which the file does not hold"
	if estimated && (s.TPOT.computes(&s.Header.Config, "tpot") || s.E2EL.computes(&s.Header.Config, "e2el")) {
		s.Warnings = append(s.Warnings, "tpot and e2el are approximate where the file does not give them: "+missing)
	}
	if len(ask.Goodput) > 0 && !f.has("input_lens") {
		s.Warnings = append(s.Warnings, "goodput cannot be computed anew: the file does not hold the single requests")
	} else if len(ask.Goodput) > 0 && estimated {
		s.Warnings = append(s.Warnings, "goodput is approximate: "+missing)
	}
	s.warnUnknown()
}

// computes says that some statistic of a selected metric comes from values.
func (d *Distribution) computes(c *Config, metric string) bool {
	if !c.Selected(metric) || d.Len() == 0 {
		return false
	}
	if d.quoted == nil || math.IsNaN(d.quoted.mean) {
		return true
	}
	return slices.ContainsFunc(c.Percentiles, func(p float64) bool {
		_, quoted := d.quoted.percentiles[p]
		return !quoted
	})
}

// warnUnknown says which of the selected metrics are not known.
func (s *Summary) warnUnknown() {
	c := &s.Header.Config
	for _, m := range Metrics {
		if !c.Selected(m.Name) {
			continue
		}
		d := m.Of(s)
		lacking := ""
		for _, p := range slices.Backward(c.Percentiles) {
			if math.IsNaN(d.Percentile(p)) {
				lacking = "P" + FormatPercentile(p) + " of " + m.Name
			}
		}
		if math.IsNaN(d.Mean()) {
			lacking = m.Name
		}
		if lacking != "" {
			s.Warnings = append(s.Warnings, lacking+" is not known: neither it nor the single values were given")
		}
	}
}
