// Package vllm reads and writes the output of vLLM's serving benchmark: the result block and the
// result file.
//
// Both directions share one table of lines. It has for each number its label in the block, its key
// in the result file, the releases that have it, and its place in a Summary. Block and Result write
// as a given Version does, byte for byte. BlockReader and ReadResults read the output of any
// release; what is missing stays unknown.
package vllm

import (
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/samples"
)

// A blockLine is one of vLLM's numbers: its label in the block, its key in the result file, and its
// place in a Summary.
type blockLine struct {
	label string // in the block, without its colon
	key   string // in the result file; "" if it is not there
	span         // the releases whose blocks have the line

	// at points to the number in a Summary, and creates the section that it is in: an *int or
	// *int64, -1 if unknown, or a *float64, NaN if unknown.
	at func(*metrics.Summary) any

	hidden  func(float64) bool // values that the block does not print; nil for none
	tokens  bool               // missing with --skip-tokenizer-init, from vLLM 0.17 on
	spoken  bool               // missing for pooling endpoints, whose answers are no text
	decimal bool               // printed with two digits although it is whole
	release string             // the last release that prints the line; "" if the latest does
}

// totals are the first part of the block, in order, for each release that changed it.
var totals = []blockLine{
	{label: firstLabel, key: "completed", at: func(s *metrics.Summary) any { return &s.Completed }},
	{label: "Failed requests", key: "failed", span: since(11, 1), at: func(s *metrics.Summary) any { return &s.Failed }},
	{label: "Maximum request concurrency", span: since(10, 1), hidden: func(v float64) bool { return v == 0 },
		at: func(s *metrics.Summary) any { return &s.Header.Config.MaxConcurrency }},
	{label: "Request rate configured (RPS)", span: since(10, 1), hidden: func(v float64) bool { return math.IsInf(v, 1) },
		at: func(s *metrics.Summary) any { return &s.Header.Config.RequestRate }},
	{label: "Benchmark duration (s)", key: "duration", at: func(s *metrics.Summary) any { return &s.When.Seconds }},
	{label: "Total input tokens", key: "total_input_tokens", at: func(s *metrics.Summary) any { return &s.Totals.Input }},
	{label: "Total generated tokens", key: "total_output_tokens", tokens: true, spoken: true,
		at: func(s *metrics.Summary) any { return &s.Totals.Output }},
	{label: "Request throughput (req/s)", key: "request_throughput",
		at: func(s *metrics.Summary) any { return &s.Rates.Requests }},
	{label: "Request goodput (req/s)", key: "request_goodput", span: since(6, 4), spoken: true,
		at: func(s *metrics.Summary) any { return &s.Rates.Goodput }},
	{label: "Input token throughput (tok/s)", key: "input_throughput", span: until(6, 0), release: "0.5.5",
		at: func(s *metrics.Summary) any { return &s.Rates.Input }},
	{label: "Input throughput (inputs/s)", key: "input_sequence_throughput", span: since(29, 0),
		at: func(s *metrics.Summary) any { return &s.Rates.Sequences }},
	{label: "Output token throughput (tok/s)", key: "output_throughput", tokens: true, spoken: true,
		at: func(s *metrics.Summary) any { return &s.Rates.Output }},
	{label: "Peak output token throughput (tok/s)", key: "max_output_tokens_per_s", span: since(11, 0), tokens: true,
		spoken: true,
		at:     func(s *metrics.Summary) any { return &s.Rates.PeakOutput }},
	{label: "Peak concurrent requests", key: "max_concurrent_requests", span: since(11, 0), spoken: true, decimal: true,
		at: func(s *metrics.Summary) any { return &s.Rates.PeakConcurrent }},
	{label: "RTFx (Inverse Real-Time Factor)", key: "rtfx", span: since(17, 0), spoken: true,
		hidden: func(v float64) bool { return v <= 0 },
		at:     func(s *metrics.Summary) any { return &s.Rates.RTFx }},
	{label: "Total Token throughput (tok/s)", span: span{since: Version{minor: 6}, until: Version{minor: 13}},
		tokens: true, release: "0.12.0",
		at: func(s *metrics.Summary) any { return &s.Rates.Total }},
	{label: "Total token throughput (tok/s)", key: "total_token_throughput", span: since(13, 0), tokens: true,
		at: func(s *metrics.Summary) any { return &s.Rates.Total }},
}

// unprinted are numbers that only the result file has.
var unprinted = []blockLine{
	{key: "total_input_sequences", span: since(29, 0),
		at: func(s *metrics.Summary) any { return &s.Totals.Carried.Inputs }},
}

// keyedLines are the totals that a result file may have.
func keyedLines() (lines []*blockLine) {
	for _, list := range [][]blockLine{totals, unprinted} {
		for i := range list {
			lines = append(lines, &list[i])
		}
	}
	return lines
}

var probes = []blockLine{
	{label: "Probe requests completed", key: "probe_completed",
		at: func(s *metrics.Summary) any { return &probesOf(s).Completed }},
	{label: "Probe requests failed", key: "probe_failed", at: func(s *metrics.Summary) any { return &probesOf(s).Failed }},
	{label: "Median probe E2EL (ms)", key: "probe_median_e2el_ms",
		at: func(s *metrics.Summary) any { return &probesOf(s).Median }},
	{label: "P99 probe E2EL (ms)", key: "probe_p99_e2el_ms", at: func(s *metrics.Summary) any { return &probesOf(s).P99 }},
	{label: "Max probe E2EL (ms)", key: "probe_max_e2el_ms", at: func(s *metrics.Summary) any { return &probesOf(s).Max }},
}

var speculation = []blockLine{
	{label: "Acceptance rate (%)", key: "spec_decode_acceptance_rate",
		at: func(s *metrics.Summary) any { return &speculationOf(s).AcceptanceRate }},
	{label: "Acceptance length", key: "spec_decode_acceptance_length",
		at: func(s *metrics.Summary) any { return &speculationOf(s).AcceptanceLength }},
	{label: "Drafts", key: "spec_decode_num_drafts", at: func(s *metrics.Summary) any { return &speculationOf(s).Drafts }},
	{label: "Draft tokens", key: "spec_decode_draft_tokens",
		at: func(s *metrics.Summary) any { return &speculationOf(s).DraftTokens }},
	{label: "Accepted tokens", key: "spec_decode_accepted_tokens",
		at: func(s *metrics.Summary) any { return &speculationOf(s).AcceptedTokens }},
}

// position begins the label of the acceptance at a position of a draft.
const position = "Position "

var diffusion = []blockLine{
	{label: "Committed throughput (tok/s)", key: "diffusion_committed_throughput",
		at: func(s *metrics.Summary) any { return &diffusionOf(s).CommittedThroughput }},
	{label: "Denoising steps per canvas", key: "diffusion_steps_per_canvas",
		at: func(s *metrics.Summary) any { return &diffusionOf(s).StepsPerCanvas }},
	{label: "Committed per denoising step", key: "diffusion_committed_per_step",
		at: func(s *metrics.Summary) any { return &diffusionOf(s).CommittedPerStep }},
	{label: "Committed tokens", key: "diffusion_committed_tokens",
		at: func(s *metrics.Summary) any { return &diffusionOf(s).CommittedTokens }},
	{label: "Denoising steps", key: "diffusion_denoising_steps",
		at: func(s *metrics.Summary) any { return &diffusionOf(s).DenoisingSteps }},
	{label: "Canvas positions evaluated", key: "diffusion_canvas_positions",
		at: func(s *metrics.Summary) any { return &diffusionOf(s).CanvasPositions }},
}

// The sections of a Summary are created, with everything unknown, when their first number is read.

func probesOf(s *metrics.Summary) *metrics.Probes {
	if s.Printed.Probes == nil {
		nan := math.NaN()
		s.Printed.Probes = &metrics.Probes{Completed: -1, Failed: -1, Median: nan, P99: nan, Max: nan}
	}
	return s.Printed.Probes
}

func speculationOf(s *metrics.Summary) *samples.SpecDecode {
	if s.Printed.SpecDecode == nil {
		nan := math.NaN()
		s.Printed.SpecDecode = &samples.SpecDecode{AcceptanceRate: nan, AcceptanceLength: nan, Drafts: -1, DraftTokens: -1,
			AcceptedTokens: -1}
	}
	return s.Printed.SpecDecode
}

func diffusionOf(s *metrics.Summary) *samples.Diffusion {
	if s.Printed.Diffusion == nil {
		nan := math.NaN()
		s.Printed.Diffusion = &samples.Diffusion{CommittedThroughput: nan, StepsPerCanvas: nan, CommittedPerStep: nan,
			CommittedTokens: -1, DenoisingSteps: -1, CanvasPositions: -1}
	}
	return s.Printed.Diffusion
}

// get is the number in s, NaN if unknown, and whether it is whole.
func (l *blockLine) get(s *metrics.Summary) (v float64, whole bool) {
	switch at := l.at(s).(type) {
	case *int:
		v, whole = float64(*at), true
	case *int64:
		v, whole = float64(*at), true
	case *float64:
		v = *at
	}
	if whole && v < 0 {
		v = math.NaN()
	}
	return v, whole
}

// set stores the number in s, NaN if unknown.
func (l *blockLine) set(s *metrics.Summary, v float64) {
	count := int64(-1)
	if v >= 0 && v < math.MaxInt {
		count = int64(v)
	}
	switch at := l.at(s).(type) {
	case *int:
		*at = int(count)
	case *int64:
		*at = count
	case *float64:
		*at = v
	}
}

// text is what the block prints; "" for no line.
func (l *blockLine) text(s *metrics.Summary) string {
	v, whole := l.get(s)
	switch {
	case math.IsNaN(v) || l.hidden != nil && l.hidden(v):
		return ""
	case whole && !l.decimal:
		return Count(int(v))
	}
	return decimal(v)
}

// A section is the lines of the block with one title: single numbers, or the statistics of a metric. A section
// without rows is left out.
type section struct {
	title string
	span
	lines  []blockLine
	metric string                      // one of metrics.Metrics
	label  string                      // label in the block
	there  func(*metrics.Summary) bool // reports whether a Summary has the part; nil for all
	more   func(*metrics.Summary) []Row
}

// parts are all sections that any release prints, in order.
var parts = []section{
	{lines: totals},
	{title: "Probe Requests", span: since(27, 0), lines: probes,
		there: func(s *metrics.Summary) bool { return s.Printed.Probes != nil && s.Printed.Probes.Completed != 0 }},
	{title: "Time to First Token", metric: "ttft", label: "TTFT"},
	{title: "Time per Output Token (excl. 1st token)", metric: "tpot", label: "TPOT"},
	{title: "Inter-token Latency", span: since(5, 0), metric: "itl", label: "ITL"},
	{title: "End-to-end Latency", span: since(6, 0), metric: "e2el", label: "E2EL"},
	{title: "Client-side Queueing", span: since(30, 0), metric: "client_queue_time", label: "Client Queue Time"},
	{title: "Queue-inclusive End-to-end Latency", span: since(30, 0), metric: "e2el_including_client_queue",
		label: "E2EL incl. Client Queue"},
	{title: "Diffusion Decoding", span: since(24, 0), lines: diffusion,
		there: func(s *metrics.Summary) bool { return s.Printed.Diffusion != nil }},
	{title: "Speculative Decoding", span: since(14, 0), lines: speculation, more: positions,
		there: func(s *metrics.Summary) bool { return s.Printed.SpecDecode != nil && s.Printed.Diffusion == nil }},
}

// labelled and keyed are all lines by their labels and by their keys.
var labelled, keyed = indexed()

func indexed() (labelled, keyed map[string]*blockLine) {
	labelled, keyed = map[string]*blockLine{}, map[string]*blockLine{}
	for _, lines := range [][]blockLine{totals, unprinted, probes, speculation, diffusion} {
		for i := range lines {
			if lines[i].label != "" {
				labelled[lines[i].label] = &lines[i]
			}
			if lines[i].key != "" {
				keyed[lines[i].key] = &lines[i]
			}
		}
	}
	return labelled, keyed
}
