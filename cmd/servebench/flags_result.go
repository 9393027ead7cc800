package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/window"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/save"
)

// resultFlags say what to report, and where it goes.
type resultFlags struct {
	*options
	metrics  string
	goodput  []string
	metadata []string
}

// goodputHelp says what --goodput is for.
const goodputHelp = "limits of a good request, as ttft:200 tpot:50 e2el:5000, and of a session, as job:60000, in " +
	"milliseconds. ttfo:MS limits the time to the first output that is not reasoning"

func (g *resultFlags) define(f *argv.Flags) {
	r := &g.Results
	f.StringVar(&g.metrics, "percentile-metrics", "ttft,tpot,itl", "`LIST` latencies to print, of "+
		strings.Join(latencies(), ", "))
	f.Var(argv.Parsed(&g.Plan.Report.Percentiles, "99", parsePercentiles), "metric-percentiles",
		"`LIST` percentiles to print, from 0 to 100, as 50,90,99.9")
	f.ListVar(&g.goodput, "goodput", argv.Some, "`KEY:MS` "+goodputHelp)
	f.StringVar(&g.Plan.Report.Label, "label", "", "`TEXT` start of the result file's name (default the backend)")
	f.ListVar(&g.metadata, "metadata", argv.Many, "`KEY=VALUE` pairs to write into the result file")
	f.BoolVar(&r.Save, "save-result", false, "write vLLM's JSON result file")
	f.BoolVar(&r.SaveDetailed, "save-detailed", false, "write every request into the result file, with its text")
	f.BoolVar(&r.Append, "append-result", false, "append to the result file, one JSON object per line")
	f.StringVar(&r.Dir, "result-dir", "", "`DIR` folder of the result file (default the working directory)")
	f.StringVar(&r.Filename, "result-filename", "",
		"`NAME` name of the result file (default made from label, rate, model and time)")
	f.BoolVar(&r.Plots.Timeline, "plot-timeline", false,
		"write an HTML page about the run, with a timeline of its requests. It has the name of the result file, with "+
			".timeline.html")
	f.Var(argv.Parsed(&r.Plots.ITLMarks, "25,50", parseThresholds), "timeline-itl-thresholds",
		"`MS,MS` two thresholds to mark in the page's chart of single ITLs, in milliseconds")
	f.BoolVar(&r.Plots.Lengths, "plot-dataset-stats", false,
		"write a chart of prompt and output lengths, as .dataset_stats.svg (vLLM writes a PNG)")
	f.StringVarP(&r.Stream, "record-to", "o", "",
		"`FILE` write the record stream to this file, for servebench report; - means stdout. %t in the name is the "+
			"shard's index")
	f.StringVar(&r.Record, "record", "full", "`WHAT` what the record stream keeps. prompts adds what was sent, so that "+
		"--dataset-name file sends it again. requests leaves out the arrival times of chunks")
	f.StringVar(&r.Compress, "compress", "", "`HOW` compress the record stream: zstd. A FILE of -o that ends in .zst "+
		"is always compressed. servebench report reads both")
	f.StringVar(&r.Intervals, "hlog", "", "`FILE` write the latencies of each second as an HdrHistogram interval log")
	f.Var(argv.Parsed(&r.VLLMVersion, "latest", parseVersion), "vllm-version",
		"`VERSION` release of vLLM whose lines, files and definitions to use, from 0.4.0 on. Releases before 0.30 have "+
			"the definitions of 0.30.0")
	f.Var(argv.Parsed(&r.Parts.Window, "", window.Parse), "window",
		"`WHEN` also report this part of the run: steady, or from:to as 20s:110s, 20s: or :110s")
	f.Var(argv.Parsed(&r.Parts.Slice, "", window.ParseSlice), "slice",
		"`TIME` also report the run in parts of this length, as 10s")
	f.BoolVar(&r.Parts.Extended, "extended", false,
		"print everything: additional metrics, all reasons, failures by class, queueing, slices, and the blocks of "+
			"several targets")
	f.Var(argv.Parsed(&g.Plan.Report.Price, "", cost.ParsePrice), "price",
		"`PRICE` what a GPU costs in dollars an hour, as 2.10/h. The run then says what a million tokens cost")
	f.Var(argv.Parsed(&g.Plan.Report.GPUs, "", parseGPUs), "gpus",
		"`N` number of GPUs of the server (default what --metadata says, or else 1)")
	f.BoolVar(&r.NoProgress, "disable-tqdm", false, "show no progress")
	f.Var(argv.Parsed(&g.Plan.Abort, "", parseAbort), "abort-on-failures",
		"`N|P%` stop after more than N failed requests, as 10, or P percent of at least 20, as 5% (default never)")
	f.BoolVar(&r.Strict, "strict", false, "end with exit code 3 if the run is SUSPECT or OVERLOADED")
	f.OfferList("percentile-metrics", latencies()...)
	f.OfferList("metric-percentiles", "50", "90", "95", "99", "99.9")
	f.Offer("goodput", "ttft:", "ttfo:", "tpot:", "e2el:", "job:")
	f.Offer("window", "steady")
	f.Offer("vllm-version", releases...)
	f.OfferFolders("result-dir")
	f.OfferFiles("record-to", "jsonl", "zst")
	f.OfferFiles("hlog", "hlog")
	f.Choices("record", "full", "prompts", "requests")
	f.Choices("compress", "zstd")
}

func (g *resultFlags) resolve(f *argv.Flags) error {
	r := &g.Results
	g.Plan.Report.Metrics = strings.Split(g.metrics, ",")
	if g.metrics == "" || !f.Changed("percentile-metrics") {
		g.Plan.Report.Metrics = g.Plan.Latencies()
	}
	for _, m := range unknownMetrics(g.Plan.Report.Metrics) {
		g.Warnings = append(g.Warnings, fmt.Sprintf("--percentile-metrics: %s is no latency and is left out: there are %s",
			pyjson.Quote(m), strings.Join(latencies(), ", ")))
	}
	if !r.Save && !r.Append && (r.SaveDetailed || !r.Plots.Any() && (r.Dir != "" || r.Filename != "")) {
		g.Warnings = append(g.Warnings, "no result file is written without --save-result or --append-result: give one of "+
			"the two")
	}
	switch ending := strings.ToLower(filepath.Ext(r.Stream)); {
	case ending == ".zst":
		r.Compress = "zstd"
	case slices.Contains([]string{".gz", ".xz", ".bz2"}, ending):
		return fmt.Errorf("argument -o/--record-to: %s: servebench compresses with zstd: name it .zst", r.Stream)
	case r.Stream == "" && r.Compress != "":
		g.Warnings = append(g.Warnings, "no record stream is written without -o FILE, so --compress has no effect")
	}
	counted := metrics.Header{
		Definitions: r.VLLMVersion.Definitions(), Config: g.Plan.Config(),
	}
	if borrowed := r.VLLMVersion.Borrows(); borrowed != "" && counted.InForce() != "" {
		g.Warnings = append(g.Warnings, borrowed)
	}
	if r.Intervals != "" && (r.Intervals == "-" || save.Same(r.Intervals, r.Stream)) {
		return fmt.Errorf("argument --hlog: %s: it must be a separate file", r.Intervals)
	}
	var err error
	if g.Plan.Report.Goodput, err = parseGoodput(g.goodput); err != nil {
		return fmt.Errorf("argument --goodput: %w", err)
	}
	for _, slo := range g.Plan.Report.Goodput {
		switch {
		case !g.Plan.Whole() || !slices.Contains([]string{"ttft", "ttfo", "tpot"}, slo.Metric):
		case g.Plan.Server.Pooling(): // vLLM's client takes it and does nothing with it
			g.Warnings = append(g.Warnings, fmt.Sprintf("--goodput %s: answers of --backend %s have E2EL alone, so it means "+
				"nothing", slo.Metric, g.Plan.Server.Backend))
		default:
			return fmt.Errorf("argument --goodput: %s: answers that are not streamed have none: it must be e2el", slo.Metric)
		}
	}
	if g.Plan.Report.Metadata, err = pairs(g.metadata); err != nil {
		return fmt.Errorf("argument --metadata: Invalid metadata format. Please use KEY=VALUE format. (%w)", err)
	}
	return nil
}

// latencies are the names of all latencies.
func latencies() (names []string) {
	for _, m := range metrics.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// releases are the releases of vLLM that completion offers.
var releases = []string{"latest", "0.33.0", "0.11.0", "0.9.2", "0.6.4"}

// unknownMetrics are the names that no latency has.
func unknownMetrics(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(latencies(), name) })
}

var releaseNumber = regexp.MustCompile(`^v?(\d+(\.\d+)+)`)

// parseVersion reads the name of a vLLM release: 0.6.4, v0.10.1.post1, latest.
func parseVersion(text string) (vllm.Version, error) {
	if m := releaseNumber.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return vllm.ParseVersion(text)
}

// parseAbort reads 10 or 5%.
func parseAbort(text string) (rule loadgen.AbortRule, err error) {
	rule.Text = strings.TrimSpace(text)
	percent, isShare := strings.CutSuffix(rule.Text, "%")
	if isShare {
		rule.Share, err = argv.ParseFloat(percent)
	} else {
		rule.Count, err = argv.ParseInt(rule.Text)
	}
	if err != nil || rule.Count < 0 || isShare && !(rule.Share >= 0 && rule.Share < 100) {
		return rule, fmt.Errorf("invalid value: %s: it must be a number of requests, as 10, or a share of them below "+
			"100%%, as 5%%", pyjson.Quote(text))
	}
	return rule, nil
}

// parseGPUs reads a number of GPUs.
func parseGPUs(text string) (int, error) {
	n, err := argv.ParseInt(text)
	if err == nil && n < 1 {
		err = fmt.Errorf("%d: it must be 1 or more", n)
	}
	return n, err
}

// parsePercentiles reads the value of --metric-percentiles.
func parsePercentiles(text string) ([]float64, error) {
	var percentiles []float64
	for part := range strings.SplitSeq(text, ",") {
		p, err := argv.ParseFloat(part)
		if err == nil && !(p >= 0 && p <= 100) {
			err = fmt.Errorf("%s: a percentile must be from 0 to 100", metrics.FormatFloat(p))
		}
		if err != nil {
			return nil, err
		}
		percentiles = append(percentiles, p)
	}
	return percentiles, nil
}

// parseGoodput reads the values of --goodput. The later of two limits on the same latency counts.
func parseGoodput(args []string) ([]metrics.SLO, error) {
	var slos []metrics.SLO
	for _, arg := range args {
		slo, err := parseSLO(arg)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(slos, func(s metrics.SLO) bool { return s.Metric == slo.Metric }); i >= 0 {
			slos[i] = slo
			continue
		}
		slos = append(slos, slo)
	}
	return slos, nil
}

// parseSLO reads one limit. Errors are worded as vLLM's.
func parseSLO(arg string) (slo metrics.SLO, err error) {
	name, text, _ := strings.Cut(arg, ":")
	limit, err := argv.ParseFloat(text)
	shown := metrics.FormatFloat(limit)
	switch {
	case err != nil:
		return slo, errors.New("Invalid format found for service level objectives. Specify service level objectives for " +
			"goodput as " +
			`"KEY:VALUE" pairs, where the key is a metric name, and the value is a number in milliseconds. (` +
			pyjson.Quote(arg) + ")")
	case !slices.Contains([]string{"ttft", "ttfo", "tpot", "e2el", metrics.JobSLO}, name):
		return slo, errors.New("Invalid metric name found, " + name + ": " + shown +
			". The service level objective name should be one of ['ttft', 'tpot', 'e2el'], or 'ttfo' or 'job'.")
	case !(limit >= 0):
		return slo, errors.New("Invalid value found, " + name + ": " + shown +
			". The service level objective value should be non-negative.")
	}
	return metrics.SLO{Metric: name, Limit: limit}, nil
}
