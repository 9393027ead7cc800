package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
)

func (f *form) resultFlags() []*flag {
	r := &f.Results
	return []*flag{
		{name: "percentile-metrics", meta: "LIST", fallback: "ttft,tpot,itl", set: into(&f.metrics, parseString),
			help: "latencies to print, of ttft,tpot,itl,e2el"},
		{name: "metric-percentiles", meta: "LIST", fallback: "99", set: into(&f.percentiles, parseString),
			help: "their percentiles, as 50,90,99.9"},
		{name: "goodput", meta: "KEY:MS", args: some, list: &f.goodput,
			help: "limits that a good request keeps, in milliseconds: ttft, tpot, e2el"},
		{name: "label", meta: "TEXT", set: into(&r.Label, parseString),
			help: "first part of the result file's name (default the backend)"},
		{name: "metadata", meta: "KEY=VALUE", args: many, list: &f.metadata,
			help: "pairs to write into the result file"},
		{name: "save-result", args: none, set: switchTo(&r.Save, true),
			help: "write vLLM's JSON result file"},
		{name: "save-detailed", args: none, set: switchTo(&r.SaveDetailed, true),
			help: "with every request in it"},
		{name: "append-result", args: none, set: switchTo(&r.Append, true),
			help: "append to the result file, one JSON object a line"},
		{name: "result-dir", meta: "DIR", set: into(&r.Dir, parseString),
			help: "where the result file goes (default the working directory)"},
		{name: "result-filename", meta: "NAME", set: into(&r.Filename, parseString),
			help: "its name (default made from label, rate, model and time)"},
		{name: "plot-timeline", args: none, set: switchTo(&r.Plots.Timeline, true),
			help: "write a page about the run with a timeline of its requests, named as the result file would be, but .timeline.html"},
		{name: "timeline-itl-thresholds", meta: "MS,MS", fallback: "25,50", set: into(&r.Plots.ITLMarks, parseThresholds),
			help: "where the page marks its chart of single ITLs"},
		{name: "plot-dataset-stats", args: none, set: switchTo(&r.Plots.Lengths, true),
			help: "write the lengths of prompts and outputs as a picture, .dataset_stats.svg (vLLM's is a PNG)"},
		{name: "record-to", short: "o", meta: "FILE", ours: true, set: into(&r.Stream, parseString),
			help: "write the record stream, one line a request, for servebench report; - is stdout, %t in the name the shard's index"},
		{name: "record", meta: "WHAT", fallback: "full", ours: true, choices: []string{"full", "requests", compact},
			set:  into(&r.Record, parseString),
			help: "what the stream keeps: requests leaves out the arrival of each token, compact all single requests"},
		{name: "hlog", meta: "FILE", ours: true, set: into(&r.Intervals, parseString),
			help: "write the latencies of each second as an interval log of HdrHistogram's"},
		{name: "vllm-version", meta: "VERSION", fallback: "latest", ours: true, set: into(&r.VLLMVersion, parseVersion),
			help: "print lines and write result files as this release of vLLM does, from 0.4.0 on, and count by its definitions"},
		{name: "window", meta: "WHEN", ours: true, set: into(&r.Parts.Window, parseWindow),
			help: "report this part of the run, too: steady, or times from its start as 20s:110s, 20s: or :110s"},
		{name: "slice", meta: "TIME", ours: true, set: into(&r.Parts.Slice, parseSlice),
			help: "report the run in equal parts of that length, too, as 10s"},
		{name: "extended", args: none, ours: true, set: switchTo(&r.Parts.Extended, true),
			help: "print sections under the block, too: failures by class, queueing, latency per token, the run in slices"},
		{name: "disable-tqdm", args: none, set: switchTo(&r.NoProgress, true),
			help: "show no progress"},
		{name: "abort-on-failures", meta: "N|P%", ours: true, set: into(&f.Abort, parseAbort),
			help: "stop when more than N requests have failed, as 10, or more than P % of those that ended and at least 20 have, as 5% (default never)"},
		{name: "strict", args: none, ours: true, set: switchTo(&r.Strict, true),
			help: "end with exit code 3 when the run is SUSPECT or OVERLOADED"},
	}
}

func (f *form) resolveResults() error {
	r := &f.Results
	r.Metrics = strings.Split(f.metrics, ",")
	if f.metrics == "" {
		r.Metrics = []string{"ttft", "tpot", "itl"}
	}
	for _, m := range unknownMetrics(r.Metrics) {
		f.Warnings = append(f.Warnings, fmt.Sprintf("--percentile-metrics: no latency is called %s: it is left out", quoted(m)))
	}
	if !r.Save && !r.Append && (r.SaveDetailed || !r.Plots.any() && (r.Dir != "" || r.Filename != "")) {
		f.Warnings = append(f.Warnings, "no result file is written without --save-result or --append-result")
	}
	if r.Intervals != "" && (r.Intervals == "-" || sameFile(r.Intervals, r.Stream)) {
		return fmt.Errorf("argument --hlog: %s: it must be a file of its own", r.Intervals)
	}
	var err error
	if r.Percentiles, err = parsePercentiles(f.percentiles); err != nil {
		return fmt.Errorf("argument --metric-percentiles: %w", err)
	}
	if r.Goodput, err = parseGoodput(f.goodput); err != nil {
		return fmt.Errorf("argument --goodput: %w", err)
	}
	if r.Metadata, err = pairs(f.metadata); err != nil {
		return fmt.Errorf("argument --metadata: Invalid metadata format. Please use KEY=VALUE format. (%w)", err)
	}
	return nil
}

// unknownMetrics are the names that no latency has.
func unknownMetrics(names []string) (unknown []string) {
	for _, name := range names {
		if !slices.ContainsFunc(metrics.Metrics, func(m metrics.Metric) bool { return m.Name == name }) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

var releaseNumber = regexp.MustCompile(`^v?(\d+(\.\d+)+)`)

// parseVersion reads the name of a vLLM release: 0.6.4, v0.10.1.post1, latest.
func parseVersion(text string) (report.Version, error) {
	if m := releaseNumber.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return report.ParseVersion(text)
}
