package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/columns"
	"github.com/servebench/servebench/cmd/servebench/internal/heap"
	"github.com/servebench/servebench/cmd/servebench/internal/window"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/sharing"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/files"
	"github.com/servebench/servebench/report/neighbours"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/save"
	"github.com/servebench/servebench/report/screen"
)

// A reportCommand is `servebench report` and its flags.
type reportCommand struct {
	out, talk io.Writer
	stdin     io.Reader

	// vllm is the release whose block is printed; nil for the one that recorded the run.
	vllm     *vllm.Version
	format   string
	detailed bool
	asked    asked
	strict   bool
	parts    report.Parts
	numbers  columns.Flag
	tabled   []plot.Run // of the table of numbers
	reportFiles

	doubt error // why --strict does not let the runs so far pass
}

// asked is what the flags change in the numbers of runs.
type asked struct {
	metrics     string
	percentiles []float64
	goodput     []string
	price       cost.Price
	gpus        int
}

func newReportCommand() *cobra.Command {
	r := &reportCommand{}
	cmd := &cobra.Command{
		Use:   "report [FILE…]",
		Short: "Print the result block of recorded runs",
		Long: `Print the result block of recorded runs, one for each run, in order. The shards
of a run make one run, in whatever files they are.

A FILE is a record stream (servebench run -o FILE), the folder of a sweep or of
such files, a result file of vLLM (--save-result, --append-result), or any text
with result blocks in it. FILE:2 is the second run of a file, FILE:2-5 the
second to the fifth. - means standard input. What else there is to know about
the numbers goes to stderr.

--numbers prints a table of chosen numbers instead. --html writes a page about all
runs, which opens without a network, and --svg each of the page's charts as a picture.`,
		Example: `  servebench report run.jsonl
  servebench report --goodput ttft:200 tpot:50 shard-*.jsonl
  servebench report --metric-percentiles 50,99.9 vllm-infqps-model.json
  servebench report --numbers p99_ttft_ms,requests_per_s old.jsonl new.jsonl
  servebench report --html report.html old.jsonl new.jsonl`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, files []string) error {
			heap.Small(heap.Large)
			r.out, r.talk, r.stdin = cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.InOrStdin()
			if r.wanted() && cmd.Flags().Changed("format") {
				return errors.New("argument --format: --html and --svg show the runs instead of it: leave one of the two away")
			}
			return r.run(r.takeGoodput(files))
		},
	}
	f := argv.Of(cmd)
	f.Var(argv.Optional(&r.vllm, parseVersion), "vllm-version",
		"`VERSION` release of vLLM whose block and definitions to use, from 0.4.0 on (default as recorded). Releases "+
			"before 0.30 have the definitions of 0.30.0")
	f.StringVar(&r.format, "format", "block", "`FORMAT` print vLLM's result block, or its JSON result file")
	f.BoolVar(&r.detailed, "save-detailed", false, "with --format json, write every request too")
	f.StringVar(&r.asked.metrics, "percentile-metrics", "", "`LIST` latencies to print, of "+
		strings.Join(latencies(), ", ")+" (default as in the run)")
	f.Var(argv.Parsed(&r.asked.percentiles, "", parsePercentiles), "metric-percentiles",
		"`LIST` percentiles to print, from 0 to 100, as 50,90,99.9 (default as in the run)")
	f.StringArrayVar(&r.asked.goodput, "goodput", nil, "`KEY:MS …` "+goodputHelp)
	f.Var(argv.Parsed(&r.asked.price, "", cost.ParsePrice), "price",
		"`PRICE` what a GPU costs in dollars an hour, as 2.10/h (default as in the run)")
	f.Var(argv.Parsed(&r.asked.gpus, "", parseGPUs), "gpus", "`N` number of GPUs of the server (default as in the run)")
	f.Var(argv.Parsed(&r.parts.Window, "", window.Parse), "window",
		"`WHEN` also report this part of a run: steady, or from:to as 20s:110s, 20s: or :110s")
	f.Var(argv.Parsed(&r.parts.Slice, "", window.ParseSlice), "slice",
		"`TIME` also report a run in parts of this length, as 10s")
	f.BoolVar(&r.parts.Waterfall, "waterfall", false,
		"also report where the time of requests went: their spans, from due to the end, as text, on the page and in JSON")
	f.StringVar(&r.parts.Request, "request", "",
		"`ID` also report the spans of one request, by its x-request-id or its number in the dataset, from 0")
	r.numbers.Define(f, "print a table of these numbers instead of blocks")
	f.StringVar(&r.page, "html", "", "`FILE` write one HTML page about all runs to this file; - is stdout")
	f.StringVar(&r.title, "title", "", "`TEXT` title of the page (default the sweep's name, or what the runs have in "+
		"common)")
	f.StringVar(&r.folder, "svg", "", "`DIR` write each chart as a picture into this folder")
	f.BoolVar(&r.parts.Extended, "extended", false,
		"print everything: additional metrics, all reasons, failures by class, queueing, slices, and the blocks of "+
			"several targets")
	f.StringVar(&r.hgrmDir, "hgrm", "", "`DIR` write the percentiles of each latency into this folder, for "+
		"HdrHistogram's plotter")
	f.Func("write", "`FORMAT=FILE` also write a file in this format; may be repeated. FORMAT is csv (a row for each "+
		"run), requests-csv or requests-parquet (a row for each request), smaller-is-better or bigger-is-better (JSON for "+
		"github-action-benchmark). FILE - is standard output, which then has nothing else", r.writes.Add)
	r.limits.define(f)
	f.BoolVar(&r.strict, "strict", false, "end with exit code 3 if a run is SUSPECT, OVERLOADED or not judged")
	f.OfferList("percentile-metrics", latencies()...)
	f.OfferList("metric-percentiles", "50", "90", "95", "99", "99.9")
	f.Offer("goodput", "ttft:", "tpot:", "e2el:", "job:")
	f.Offer("window", "steady")
	f.Offer("vllm-version", releases...)
	f.Offer("write", "csv=", "requests-csv=", "requests-parquet=", "smaller-is-better=", "bigger-is-better=")
	f.OfferFiles("html", "html")
	f.OfferFolders("svg", "hgrm")
	f.Choices("format", "block", "json")
	return cmd
}

// takeGoodput takes the limits out of the files, if there is a --goodput: as in
// run, several may follow it.
func (r *reportCommand) takeGoodput(args []string) (files []string) {
	for _, arg := range args {
		if _, err := parseSLO(arg); err == nil && len(r.asked.goodput) > 0 {
			r.asked.goodput = append(r.asked.goodput, arg)
			continue
		}
		files = append(files, arg)
	}
	return files
}

func (r *reportCommand) run(files []string) error {
	if r.numbers.List {
		return report.Catalogue(r.out)
	}
	if err := r.numbers.Instead(r.wanted(), r.format); err != nil {
		return err
	}
	r.writes.Numbers = r.numbers.Chosen
	ask, err := r.ask()
	if err != nil {
		return err
	}
	if r.limits.given() && !r.wanted() {
		return errors.New("the flags of a gate say how two arms are compared, on a page or in pictures: they go with " +
			"--html or --svg. For text there is servebench compare")
	}
	if _, err := r.limits.read(); err != nil {
		return err
	}
	if len(files) == 0 {
		if f, ok := r.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return errors.New("report needs a FILE, such as one of servebench run -o FILE; - reads what is typed")
		}
		files = []string{"-"}
	}
	if err := save.Clash(r.written(), files); err != nil {
		return err
	}
	r.writes.Stdout = r.out
	if r.writes.Printed() {
		r.out = io.Discard
	}
	err = r.writes.Write(func() error { return r.all(files, ask) })
	if exit, ok := errors.AsType[exitError](err); ok {
		return exit
	}
	if err != nil {
		return exitError{err, exitNo}
	}
	if r.strict && r.doubt != nil {
		return exitError{r.doubt, exitNoVerdict}
	}
	return nil
}

// all reports all files. One that cannot be read does not keep the others from being
// reported.
func (r *reportCommand) all(files []string, ask metrics.Ask) (failed error) {
	sources := stream.Sources(files)
	for _, from := range sources {
		if err := r.report(from, ask, len(sources) > 1); err != nil {
			if failed != nil {
				fmt.Fprintln(r.talk, "servebench:", failed)
			}
			failed = exitError{err, exitNo}
			if errors.Is(err, fs.ErrNotExist) {
				failed = exitError{err, exitMisuse}
			}
		}
	}
	if r.tabled != nil {
		failed = cmp.Or(failed, r.numbers.Table(r.out, r.tabled))
	}
	return cmp.Or(failed, r.draw(r.out))
}

// ask is what the flags want of every run, checked.
func (r *reportCommand) ask() (metrics.Ask, error) {
	ask := metrics.Ask{Outcomes: r.detailed, Timings: r.format == "json", Percentiles: r.asked.percentiles,
		Price: r.asked.price, NumGPUs: r.asked.gpus}
	if r.parts.Extended && r.format != "block" {
		return ask, errors.New("argument --extended: its sections stand under the block, so it goes with --format block")
	}
	if r.parts.Request != "" && r.format != "block" {
		return ask, errors.New("argument --request: its spans stand under the block, so it goes with --format block")
	}
	if r.vllm != nil {
		ask.Definitions = r.vllm.Definitions()
	}
	if r.asked.metrics != "" {
		ask.Metrics = strings.Split(r.asked.metrics, ",")
		for _, m := range unknownMetrics(ask.Metrics) {
			fmt.Fprintf(r.talk, "WARNING: --percentile-metrics: %s is no latency and is left out: there are %s\n",
				pyjson.Quote(m), strings.Join(latencies(), ", "))
		}
	}
	ask.Trace = r.parts.Any() || r.wanted()
	if r.writes.Any() {
		ask.Each = r.writes.Request
	}
	var err error
	if ask.Goodput, err = parseGoodput(r.asked.goodput); err != nil {
		return ask, fmt.Errorf("argument --goodput: %w", err)
	}
	return ask, nil
}

// report reports all runs in a source, one of several or not.
func (r *reportCommand) report(from stream.Source, ask metrics.Ask, several bool) error {
	recorded := stream.Recorded{
		Ask: ask, Stdin: r.stdin, Stream: sweep.RecordsName, Finished: sweep.Finished,
		Warn: func(text string) { fmt.Fprintf(r.talk, "WARNING: %s\n", text) },
	}
	sums, err := recorded.Of(from)
	if err != nil {
		return err
	}
	name := from.String()
	if name == "-" {
		name = "standard input"
	}
	if recordedNothing(sums) {
		return fmt.Errorf("%s: no request is recorded in it: the run was cut before one had ended", name)
	}
	if r.vllm != nil && slices.ContainsFunc(sums, func(s *metrics.Summary) bool { return s.Header.InForce() != "" }) {
		if borrowed := r.vllm.Borrows(); borrowed != "" {
			fmt.Fprintf(r.talk, "WARNING: %s\n", borrowed)
		}
	}
	for i, s := range sums {
		r.doubt = cmp.Or(r.doubt, strict(s))
		if lacking := r.writes.Run(s); lacking != "" {
			fmt.Fprintf(r.talk, "WARNING: --write: %s: %s\n", name, lacking)
		}
		if r.wanted() {
			if err := r.take(s, name); err != nil {
				return err
			}
			continue
		}
		if r.numbers.Chosen != nil {
			r.tabled = append(r.tabled, plot.Run{Summary: s, File: name})
			continue
		}
		shown := ""
		if several || len(sums) > 1 {
			shown = runName(name, i, sums)
		}
		if err := errors.Join(r.print(s, shown), r.hgrm(s), r.end(s, shown), r.together(sums, i)); err != nil {
			return err
		}
	}
	if r.wanted() {
		return r.takeDocuments(name)
	}
	if r.numbers.Chosen != nil {
		return nil
	}
	shared := sharing.Loads(sums, nil)
	if r.format == "json" {
		return neighbours.SharingJSON(r.out, shared)
	}
	return errors.Join(neighbours.PairedBySeries(r.out, sums),
		neighbours.Sharing(r.out, screen.Screen{Width: reportWidth}, shared))
}

// reportWidth is the width of texts about several runs.
const reportWidth = 80

// end says below the block of a run what there is to know of it.
func (r *reportCommand) end(s *metrics.Summary, name string) error {
	shown := screen.Of(r.talk)
	ending := report.Ending{Screen: shown, Name: name, Brief: s.Header.Group != "", Extended: r.parts.Extended,
		More: "add --extended"}
	if ending.Brief {
		ending.Name = strings.TrimPrefix(name+": "+s.Header.TargetName(), ": ")
	}
	return errors.Join(report.Causes(r.talk, s, shown.Readable()), ending.Write(r.talk, s))
}

// runName tells a run of a source from all others: by its place there, its id and its
// metadata, as a sweep's arm and repeat.
func runName(source string, i int, sums []*metrics.Summary) string {
	if len(sums) > 1 {
		source += fmt.Sprintf(", run %d of %d", i+1, len(sums))
	}
	if id := sums[i].Header.Run; id != "" {
		source += " (" + id + described(sums[i].Header) + ")"
	}
	return screen.Clean(source)
}

// recordedNothing says whether recorded runs have not one request between them.
func recordedNothing(sums []*metrics.Summary) bool {
	return !slices.ContainsFunc(sums, func(s *metrics.Summary) bool { return s.Truth == nil || s.Completed+s.Failed > 0 })
}

// described is the metadata of a run: of a sweep's, its arm and its repeat.
func described(h *metrics.Header) string {
	var text strings.Builder
	for _, kv := range h.Config.Metadata {
		fmt.Fprintf(&text, ", %s %s", kv.Key, kv.Value)
	}
	return text.String()
}

// together reports what the targets of a group did together, after the last of its
// runs.
func (r *reportCommand) together(sums []*metrics.Summary, i int) error {
	inGroup := func(s *metrics.Summary) bool { return s.Header.Group == sums[i].Header.Group }
	if sums[i].Header.Group == "" || slices.ContainsFunc(sums[i+1:], inGroup) {
		return nil
	}
	of := slices.DeleteFunc(slices.Clone(sums), func(s *metrics.Summary) bool { return !inGroup(s) })
	g := targets.Groups(of)[0]
	unknown := slices.ContainsFunc(g.Shared, func(s *metrics.Summary) bool { return s.Kept.Trace == nil })
	if unknown {
		fmt.Fprintln(r.talk, "WARNING: what the targets did together is not known: that takes the single requests of all "+
			"targets")
	}
	version, err := r.version(of[0])
	switch {
	case err != nil:
		return err
	case r.format != "json":
		return neighbours.Targets(r.out, &r.parts, of, version)
	case unknown || len(g.Shared) < 2:
		return nil
	}
	return errors.Join(neighbours.GroupJSON(r.out, &g, version), r.endLine())
}

// endLine ends a line of JSON.
func (r *reportCommand) endLine() error {
	_, err := fmt.Fprintln(r.out)
	return err
}

// print prints the block of a run, under its name if there are several. The targets of a
// group follow together.
func (r *reportCommand) print(s *metrics.Summary, name string) error {
	r.parts.Cut(r.talk, s)
	version, err := r.version(s)
	if err != nil {
		return err
	}
	if r.format == "json" {
		return errors.Join(report.JSON(r.out, s, version), r.endLine())
	}
	if s.Header.Group != "" {
		return nil
	}
	if name != "" {
		fmt.Fprintf(r.out, "\n%s\n", name)
	}
	return errors.Join(vllm.Block(r.out, s, version), r.parts.Show(r.out, s, version))
}

// hgrm writes the percentiles of a run into the folder of --hgrm, if there is one.
func (r *reportCommand) hgrm(s *metrics.Summary) error {
	switch {
	case r.hgrmDir == "":
		return nil
	case s.Truth == nil:
		fmt.Fprintln(r.talk, "WARNING: --hgrm needs single requests, as a record stream has them (servebench run -o)")
		return nil
	}
	if err := files.Hgrm(r.hgrmDir, s); err != nil {
		return fmt.Errorf("--hgrm: %w", err)
	}
	return nil
}
