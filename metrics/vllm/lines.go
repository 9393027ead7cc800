package vllm

import (
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
)

// A part is a stretch of the block under one title; without rows it is absent.
type part struct {
	title string
	span
	rows func(*metrics.Summary, Version) []Row
}

// parts are all that any version prints, in order.
var parts = []part{
	{rows: totals},
	{title: "Probe Requests", span: since(27, 0), rows: probes},
	{title: "Time to First Token", rows: latency("ttft", "TTFT")},
	{title: "Time per Output Token (excl. 1st token)", rows: latency("tpot", "TPOT")},
	{title: "Inter-token Latency", span: since(5, 0), rows: latency("itl", "ITL")},
	{title: "End-to-end Latency", span: since(6, 0), rows: latency("e2el", "E2EL")},
	{title: "Client-side Queueing", span: since(30, 0), rows: latency("client_queue_time", "Client Queue Time")},
	{title: "Queue-inclusive End-to-end Latency", span: since(30, 0),
		rows: latency("e2el_including_client_queue", "E2EL incl. Client Queue")},
	{title: "Diffusion Decoding", span: since(24, 0), rows: diffusion},
	{title: "Speculative Decoding", span: since(14, 0), rows: speculation},
}

// A line is one total of the first part. A value of "" leaves it out.
type line struct {
	label string
	span
	tokens bool // gone when --skip-tokenizer-init was given, from vLLM 0.17 on
	value  func(*metrics.Summary) string
}

// lines are the totals in order, for each version that changed them.
var lines = []line{
	{label: "Successful requests:",
		value: func(s *metrics.Summary) string { return Count(s.Completed) }},
	{label: "Failed requests:", span: since(11, 1),
		value: func(s *metrics.Summary) string { return Count(s.Failed) }},
	{label: "Maximum request concurrency:", span: since(10, 1), value: maxConcurrency},
	{label: "Request rate configured (RPS):", span: since(10, 1), value: requestRate},
	{label: "Benchmark duration (s):",
		value: func(s *metrics.Summary) string { return Decimal(s.Seconds) }},
	{label: "Total input tokens:",
		value: func(s *metrics.Summary) string { return Count(s.TotalInput) }},
	{label: "Total generated tokens:", tokens: true,
		value: func(s *metrics.Summary) string { return Count(s.TotalOutput) }},
	{label: "Request throughput (req/s):",
		value: func(s *metrics.Summary) string { return Decimal(s.RequestThroughput) }},
	{label: "Request goodput (req/s):", span: since(6, 4),
		value: func(s *metrics.Summary) string { return Decimal(s.Goodput) }},
	{label: "Input token throughput (tok/s):", span: until(6, 0),
		value: func(s *metrics.Summary) string { return Decimal(s.InputThroughput) }},
	{label: "Input throughput (inputs/s):", span: since(29, 0),
		value: func(s *metrics.Summary) string { return Decimal(s.InputRate) }},
	{label: "Output token throughput (tok/s):", tokens: true,
		value: func(s *metrics.Summary) string { return Decimal(s.OutputThroughput) }},
	{label: "Peak output token throughput (tok/s):", span: since(11, 0), tokens: true,
		value: func(s *metrics.Summary) string { return Decimal(s.PeakOutput) }},
	{label: "Peak concurrent requests:", span: since(11, 0), value: peakConcurrent},
	{label: "RTFx (Inverse Real-Time Factor):", span: since(17, 0), value: rtfx},
	{label: "Total Token throughput (tok/s):", span: span{Version{major: 0, minor: 6, patch: 0}, Version{major: 0, minor: 13, patch: 0}}, tokens: true,
		value: func(s *metrics.Summary) string { return Decimal(s.TotalThroughput) }},
	{label: "Total token throughput (tok/s):", span: since(13, 0), tokens: true,
		value: func(s *metrics.Summary) string { return Decimal(s.TotalThroughput) }},
}

// vLLM's releases with a rule of their own.
var (
	choosesMetrics = Version{major: 0, minor: 6, patch: 0}  // --percentile-metrics and --metric-percentiles
	listsFailures  = Version{major: 0, minor: 14, patch: 0} // above the block
	skipsTokenizer = Version{major: 0, minor: 17, patch: 0} // --skip-tokenizer-init
)

func totals(s *metrics.Summary, v Version) []Row {
	var rows []Row
	for _, l := range lines {
		if !l.holds(v) || l.tokens && s.Header.Config.SkipTokenizer && !v.before(skipsTokenizer) {
			continue
		}
		rows = append(rows, Row{Label: l.label, Value: l.value(s)})
	}
	return known(rows)
}

func maxConcurrency(s *metrics.Summary) string {
	if s.Header.Config.MaxConcurrency <= 0 {
		return ""
	}
	return Count(s.Header.Config.MaxConcurrency)
}

func requestRate(s *metrics.Summary) string {
	if math.IsInf(s.Header.Config.RequestRate, 1) {
		return ""
	}
	return Decimal(s.Header.Config.RequestRate)
}

func peakConcurrent(s *metrics.Summary) string {
	if s.PeakConcurrent < 0 {
		return ""
	}
	return Decimal(float64(s.PeakConcurrent))
}

func rtfx(s *metrics.Summary) string {
	if !(s.RTFx > 0) {
		return ""
	}
	return Decimal(s.RTFx)
}

func probes(s *metrics.Summary, _ Version) []Row {
	p := s.Probes
	if p == nil || p.Completed == 0 {
		return nil
	}
	return known([]Row{
		{Label: "Probe requests completed:", Value: Count(p.Completed)},
		{Label: "Probe requests failed:", Value: Count(p.Failed)},
		{Label: "Median probe E2EL (ms):", Value: Decimal(p.Median)},
		{Label: "P99 probe E2EL (ms):", Value: Decimal(p.P99)},
		{Label: "Max probe E2EL (ms):", Value: Decimal(p.Max)},
	})
}

// latency makes the rows of one metric.
func latency(name, label string) func(*metrics.Summary, Version) []Row {
	return func(s *metrics.Summary, v Version) []Row {
		percentiles := s.Header.Config.Percentiles
		if v.before(choosesMetrics) {
			percentiles = []float64{99}
		} else if !s.Header.Config.Selected(name) {
			return nil
		}
		d := s.Metric(name)
		rows := []Row{
			{Label: "Mean " + label + " (ms):", Value: Decimal(d.Mean())},
			{Label: "Median " + label + " (ms):", Value: Decimal(d.Median())},
		}
		for _, p := range percentiles {
			title := fmt.Sprintf("P%s %s (ms):", metrics.FormatPercentile(p), label)
			rows = append(rows, Row{Label: title, Value: Decimal(d.Percentile(p))})
		}
		return known(rows)
	}
}

func diffusion(s *metrics.Summary, _ Version) []Row {
	d := s.Diffusion
	if d == nil {
		return nil
	}
	return known([]Row{
		{Label: "Committed throughput (tok/s):", Value: Decimal(d.CommittedThroughput)},
		{Label: "Denoising steps per canvas:", Value: Decimal(d.StepsPerCanvas)},
		{Label: "Committed per denoising step:", Value: Decimal(d.CommittedPerStep)},
		{Label: "Committed tokens:", Value: Count(int(d.CommittedTokens))},
		{Label: "Denoising steps:", Value: Count(int(d.DenoisingSteps))},
		{Label: "Canvas positions evaluated:", Value: Count(int(d.CanvasPositions))},
	})
}

func speculation(s *metrics.Summary, _ Version) []Row {
	d := s.SpecDecode
	if d == nil || s.Diffusion != nil {
		return nil
	}
	rows := known([]Row{
		{Label: "Acceptance rate (%):", Value: Decimal(d.AcceptanceRate)},
		{Label: "Acceptance length:", Value: Decimal(d.AcceptanceLength)},
		{Label: "Drafts:", Value: Count(int(d.Drafts))},
		{Label: "Draft tokens:", Value: Count(int(d.DraftTokens))},
		{Label: "Accepted tokens:", Value: Count(int(d.AcceptedTokens))},
	})
	if len(d.PerPosition) > 0 {
		rows = append(rows, Row{Label: "Per-position acceptance (%):"})
	}
	for i, share := range d.PerPosition {
		rows = append(rows, Row{Label: fmt.Sprintf("  Position %d:", i), Value: Decimal(share * 100)})
	}
	return rows
}

// known drops the rows whose value is not known.
func known(rows []Row) []Row {
	return slices.DeleteFunc(rows, func(r Row) bool { return r.Value == "" })
}
