package vllm

import (
	"math"

	"github.com/servebench/servebench/metrics"
)

// firstLabel opens every block.
const firstLabel = "Successful requests"

// sglangLabel is in the blocks of SGLang, which look much like vLLM's.
const sglangLabel = "Backend"

// blockLabels are the totals of a block in all versions.
var blockLabels = map[string]func(s *metrics.Summary, v float64){
	firstLabel:                             func(s *metrics.Summary, v float64) { s.Completed = int(v) },
	"Failed requests":                      func(s *metrics.Summary, v float64) { s.Failed = int(v) },
	"Maximum request concurrency":          func(s *metrics.Summary, v float64) { s.Header.Config.MaxConcurrency = int(v) },
	"Request rate configured (RPS)":        func(s *metrics.Summary, v float64) { s.Header.Config.RequestRate = v },
	"Benchmark duration (s)":               func(s *metrics.Summary, v float64) { s.Seconds = v },
	"Total input tokens":                   func(s *metrics.Summary, v float64) { s.TotalInput = int(v) },
	"Total generated tokens":               func(s *metrics.Summary, v float64) { s.TotalOutput = int(v) },
	"Request throughput (req/s)":           func(s *metrics.Summary, v float64) { s.RequestThroughput = v },
	"Request goodput (req/s)":              func(s *metrics.Summary, v float64) { s.Goodput = v },
	"Input token throughput (tok/s)":       func(s *metrics.Summary, v float64) { s.InputThroughput, s.VLLM = v, "0.5.5" },
	"Input throughput (inputs/s)":          func(s *metrics.Summary, v float64) { s.InputRate = v },
	"Output token throughput (tok/s)":      func(s *metrics.Summary, v float64) { s.OutputThroughput = v },
	"Peak output token throughput (tok/s)": func(s *metrics.Summary, v float64) { s.PeakOutput = v },
	"Peak concurrent requests":             func(s *metrics.Summary, v float64) { s.PeakConcurrent = int(v) },
	"RTFx (Inverse Real-Time Factor)":      func(s *metrics.Summary, v float64) { s.RTFx = v },
	"Total Token throughput (tok/s)":       func(s *metrics.Summary, v float64) { s.TotalThroughput, s.VLLM = v, "0.12.0" },
	"Total token throughput (tok/s)":       func(s *metrics.Summary, v float64) { s.TotalThroughput = v },

	"Probe requests completed": func(s *metrics.Summary, v float64) { probesOf(s).Completed = int(v) },
	"Probe requests failed":    func(s *metrics.Summary, v float64) { probesOf(s).Failed = int(v) },
	"Median probe E2EL (ms)":   func(s *metrics.Summary, v float64) { probesOf(s).Median = v },
	"P99 probe E2EL (ms)":      func(s *metrics.Summary, v float64) { probesOf(s).P99 = v },
	"Max probe E2EL (ms)":      func(s *metrics.Summary, v float64) { probesOf(s).Max = v },

	"Acceptance rate (%)": func(s *metrics.Summary, v float64) { specDecodeOf(s).AcceptanceRate = v },
	"Acceptance length":   func(s *metrics.Summary, v float64) { specDecodeOf(s).AcceptanceLength = v },
	"Drafts":              func(s *metrics.Summary, v float64) { specDecodeOf(s).Drafts = int64(v) },
	"Draft tokens":        func(s *metrics.Summary, v float64) { specDecodeOf(s).DraftTokens = int64(v) },
	"Accepted tokens":     func(s *metrics.Summary, v float64) { specDecodeOf(s).AcceptedTokens = int64(v) },

	"Committed throughput (tok/s)": func(s *metrics.Summary, v float64) { diffusionOf(s).CommittedThroughput = v },
	"Denoising steps per canvas":   func(s *metrics.Summary, v float64) { diffusionOf(s).StepsPerCanvas = v },
	"Committed per denoising step": func(s *metrics.Summary, v float64) { diffusionOf(s).CommittedPerStep = v },
	"Committed tokens":             func(s *metrics.Summary, v float64) { diffusionOf(s).CommittedTokens = int64(v) },
	"Denoising steps":              func(s *metrics.Summary, v float64) { diffusionOf(s).DenoisingSteps = int64(v) },
	"Canvas positions evaluated":   func(s *metrics.Summary, v float64) { diffusionOf(s).CanvasPositions = int64(v) },
}

// probesOf is the section of s, made when its first line is read.
func probesOf(s *metrics.Summary) *metrics.Probes {
	if s.Probes == nil {
		nan := math.NaN()
		s.Probes = &metrics.Probes{Completed: -1, Failed: -1, Median: nan, P99: nan, Max: nan}
	}
	return s.Probes
}

// specDecodeOf is the section of s, made when its first line is read.
func specDecodeOf(s *metrics.Summary) *metrics.SpecDecode {
	if s.SpecDecode == nil {
		nan := math.NaN()
		s.SpecDecode = &metrics.SpecDecode{AcceptanceRate: nan, AcceptanceLength: nan, Drafts: -1, DraftTokens: -1, AcceptedTokens: -1}
	}
	return s.SpecDecode
}

// diffusionOf is the section of s, made when its first line is read.
func diffusionOf(s *metrics.Summary) *metrics.Diffusion {
	if s.Diffusion == nil {
		nan := math.NaN()
		s.Diffusion = &metrics.Diffusion{CommittedThroughput: nan, StepsPerCanvas: nan, CommittedPerStep: nan,
			CommittedTokens: -1, DenoisingSteps: -1, CanvasPositions: -1}
	}
	return s.Diffusion
}
