package report

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
	rows func(*metrics.Summary, Version) []row
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
		value: func(s *metrics.Summary) string { return count(s.Completed) }},
	{label: "Failed requests:", span: since(11, 1),
		value: func(s *metrics.Summary) string { return count(s.Failed) }},
	{label: "Maximum request concurrency:", span: since(10, 1), value: maxConcurrency},
	{label: "Request rate configured (RPS):", span: since(10, 1), value: requestRate},
	{label: "Benchmark duration (s):",
		value: func(s *metrics.Summary) string { return decimal(s.Seconds) }},
	{label: "Total input tokens:",
		value: func(s *metrics.Summary) string { return count(s.TotalInput) }},
	{label: "Total generated tokens:", tokens: true,
		value: func(s *metrics.Summary) string { return count(s.TotalOutput) }},
	{label: "Request throughput (req/s):",
		value: func(s *metrics.Summary) string { return decimal(s.RequestThroughput) }},
	{label: "Request goodput (req/s):", span: since(6, 4),
		value: func(s *metrics.Summary) string { return decimal(s.Goodput) }},
	{label: "Input token throughput (tok/s):", span: until(6, 0),
		value: func(s *metrics.Summary) string { return decimal(s.InputThroughput) }},
	{label: "Input throughput (inputs/s):", span: since(29, 0),
		value: func(s *metrics.Summary) string { return decimal(s.InputRate) }},
	{label: "Output token throughput (tok/s):", tokens: true,
		value: func(s *metrics.Summary) string { return decimal(s.OutputThroughput) }},
	{label: "Peak output token throughput (tok/s):", span: since(11, 0), tokens: true,
		value: func(s *metrics.Summary) string { return decimal(s.PeakOutput) }},
	{label: "Peak concurrent requests:", span: since(11, 0), value: peakConcurrent},
	{label: "RTFx (Inverse Real-Time Factor):", span: since(17, 0), value: rtfx},
	{label: "Total Token throughput (tok/s):", span: span{Version{major: 0, minor: 6, patch: 0}, Version{major: 0, minor: 13, patch: 0}}, tokens: true,
		value: func(s *metrics.Summary) string { return decimal(s.TotalThroughput) }},
	{label: "Total token throughput (tok/s):", span: since(13, 0), tokens: true,
		value: func(s *metrics.Summary) string { return decimal(s.TotalThroughput) }},
}

// vLLM's releases with a rule of their own.
var (
	choosesMetrics = Version{major: 0, minor: 6, patch: 0}  // --percentile-metrics and --metric-percentiles
	listsFailures  = Version{major: 0, minor: 14, patch: 0} // above the block
	skipsTokenizer = Version{major: 0, minor: 17, patch: 0} // --skip-tokenizer-init
)

func totals(s *metrics.Summary, v Version) []row {
	var rows []row
	for _, l := range lines {
		if !l.holds(v) || l.tokens && s.Header.Config.SkipTokenizer && !v.before(skipsTokenizer) {
			continue
		}
		rows = append(rows, row{label: l.label, value: l.value(s)})
	}
	return known(rows)
}

func maxConcurrency(s *metrics.Summary) string {
	if s.Header.Config.MaxConcurrency <= 0 {
		return ""
	}
	return count(s.Header.Config.MaxConcurrency)
}

func requestRate(s *metrics.Summary) string {
	if math.IsInf(s.Header.Config.RequestRate, 1) {
		return ""
	}
	return decimal(s.Header.Config.RequestRate)
}

func peakConcurrent(s *metrics.Summary) string {
	if s.PeakConcurrent < 0 {
		return ""
	}
	return decimal(float64(s.PeakConcurrent))
}

func rtfx(s *metrics.Summary) string {
	if !(s.RTFx > 0) {
		return ""
	}
	return decimal(s.RTFx)
}

func probes(s *metrics.Summary, _ Version) []row {
	p := s.Probes
	if p == nil || p.Completed == 0 {
		return nil
	}
	return known([]row{
		{label: "Probe requests completed:", value: count(p.Completed)},
		{label: "Probe requests failed:", value: count(p.Failed)},
		{label: "Median probe E2EL (ms):", value: decimal(p.Median)},
		{label: "P99 probe E2EL (ms):", value: decimal(p.P99)},
		{label: "Max probe E2EL (ms):", value: decimal(p.Max)},
	})
}

// latency makes the rows of one metric.
func latency(name, label string) func(*metrics.Summary, Version) []row {
	return func(s *metrics.Summary, v Version) []row {
		percentiles := s.Header.Config.Percentiles
		if v.before(choosesMetrics) {
			percentiles = []float64{99}
		} else if !s.Header.Config.Selected(name) {
			return nil
		}
		d := s.Metric(name)
		rows := []row{
			{label: "Mean " + label + " (ms):", value: decimal(d.Mean())},
			{label: "Median " + label + " (ms):", value: decimal(d.Median())},
		}
		for _, p := range percentiles {
			title := fmt.Sprintf("P%s %s (ms):", metrics.FormatPercentile(p), label)
			rows = append(rows, row{label: title, value: decimal(d.Percentile(p))})
		}
		return known(rows)
	}
}

func diffusion(s *metrics.Summary, _ Version) []row {
	d := s.Diffusion
	if d == nil {
		return nil
	}
	return known([]row{
		{label: "Committed throughput (tok/s):", value: decimal(d.CommittedThroughput)},
		{label: "Denoising steps per canvas:", value: decimal(d.StepsPerCanvas)},
		{label: "Committed per denoising step:", value: decimal(d.CommittedPerStep)},
		{label: "Committed tokens:", value: count(int(d.CommittedTokens))},
		{label: "Denoising steps:", value: count(int(d.DenoisingSteps))},
		{label: "Canvas positions evaluated:", value: count(int(d.CanvasPositions))},
	})
}

func speculation(s *metrics.Summary, _ Version) []row {
	d := s.SpecDecode
	if d == nil || s.Diffusion != nil {
		return nil
	}
	rows := known([]row{
		{label: "Acceptance rate (%):", value: decimal(d.AcceptanceRate)},
		{label: "Acceptance length:", value: decimal(d.AcceptanceLength)},
		{label: "Drafts:", value: count(int(d.Drafts))},
		{label: "Draft tokens:", value: count(int(d.DraftTokens))},
		{label: "Accepted tokens:", value: count(int(d.AcceptedTokens))},
	})
	if len(d.PerPosition) > 0 {
		rows = append(rows, row{label: "Per-position acceptance (%):"})
	}
	for i, share := range d.PerPosition {
		rows = append(rows, row{label: fmt.Sprintf("  Position %d:", i), value: decimal(share * 100)})
	}
	return rows
}

// known drops the rows whose value is not known.
func known(rows []row) []row {
	return slices.DeleteFunc(rows, func(r row) bool { return r.value == "" })
}
