package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/cmd/servebench/internal/version"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/loadgen/progress"
	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/sharing"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/neighbours"
	"github.com/servebench/servebench/report/repeats"
	"github.com/servebench/servebench/report/screen"
)

// An experiment runs and prints what a command line of servebench run describes. It is the Observer
// of its Plan.
type experiment struct {
	console
	asked *options // by the command line itself

	screen   *progress.Talk   // where progress is shown; nil shows none
	exported *exporter.Server // nil if there is no exporter
	arm      string           // of a sweep
	withheld bool             // the caller writes the files
	series   map[string]*exporter.Series
	done     []*loadgen.Result
	views    map[string]*sharing.View // of runs on several targets

	// unwritten is the error that kept results from being printed and saved. The next run may
	// succeed.
	unwritten error
}

func newExperiment(o *options, out, talk io.Writer) *experiment {
	return &experiment{
		asked: o, series: map[string]*exporter.Series{}, views: map[string]*sharing.View{},
		console: console{out: out, talk: talk, version: o.Results.VLLMVersion, several: o.Targets != nil},
	}
}

// run runs the whole command line, and returns what was not done or not written.
func (e *experiment) run(ctx context.Context) (err error) {
	e.note(e.asked.Notes)
	e.warn(e.asked.Warnings)
	if e.exported, err = serveMetrics(e.asked.Listen, e.talk); err != nil {
		return err
	}
	defer e.exported.Close()
	plan := e.asked.plan()
	wait := spool.Waiting{Context: ctx, Drain: e.asked.Plan.Limits.Drain}
	if plan.Keep.Records, err = openRecords(&e.asked.Results, e.talk); err != nil {
		return err
	}
	if plan.Keep.Intervals, err = openIntervals(&e.asked.Results, e.talk); err != nil {
		return errors.Join(err, closed(plan.Keep.Records.Close(wait)))
	}
	err = e.load(ctx, plan)
	shared := sharing.Loads(summaries(e.done), e.views)
	if e.asked.Plan.Repeat == 1 {
		err = errors.Join(err, neighbours.Sharing(e.out, screen.Screen{Width: reportWidth}, shared))
	}
	if e.asked.Plan.Repeat > 1 && len(e.done) > 0 {
		all := repeats.Report{Runs: summaries(e.done), Several: e.several, Extended: e.asked.Results.Parts.Extended,
			Loads: shared}
		if unprinted := all.Write(e.out, screen.Of(e.out)); unprinted != nil {
			err = errors.Join(err, exitError{unprinted, exitNo})
		}
		if shared := repeats.SharedStart(summaries(e.done)); shared != "" {
			e.note([]string{shared})
		}
	}
	if e.several && !e.asked.Results.Parts.Extended && len(e.done) > 0 {
		err = errors.Join(err, tellRest(e.talk, screen.Of(e.talk), e.asked.rest()))
	}
	err = errors.Join(err, e.unwritten, closed(plan.Keep.Records.Close(wait)), closed(plan.Keep.Intervals.Close(wait)))
	if _, stopped := errors.AsType[loadgen.AbortError](err); err == nil || stopped {
		return cmp.Or(err, e.outcome(ctx))
	}
	if told := e.outcome(ctx); told != nil {
		fmt.Fprintln(e.talk, "servebench:", told)
	}
	return err
}

// load carries the plan out.
func (e *experiment) load(ctx context.Context, plan *loadgen.Plan) error {
	for _, o := range e.asked.all() {
		if err := o.checkFiles(); err != nil {
			return err
		}
		if e.asked.Plan.SoloFirst {
			if err := o.part("alone").checkFiles(); err != nil {
				return err
			}
		}
	}
	_, err := plan.Run(ctx, e)
	return exitOf(e.advised(err))
}

// of are the options of a target.
func (e *experiment) of(target string) *options {
	all := e.asked.all()
	return all[slices.IndexFunc(all, func(o *options) bool { return o.Plan.Target == target })]
}

// advised adds advice to the error of a run that cannot begin, if there is any.
func (e *experiment) advised(err error) error {
	lost, ok := errors.AsType[*loadgen.UnreachableError](err)
	if !ok {
		return err
	}
	o := e.of(lost.Target)
	if advice := (&advice.Adviser{Plan: &o.Plan}).Unreachable(lost); advice != "" {
		return &loadgen.FailedError{Err: fmt.Errorf("%w: %s", err, advice)}
	}
	return err
}

// closed is the error of closing a file, with its exit code.
func closed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, spool.ErrInterrupted):
		return exitError{err, exitInterrupted}
	}
	return exitError{err, exitNo}
}

// exitOf gives an error of a run its exit code.
func exitOf(err error) error {
	if errors.Is(err, loadgen.ErrInterrupted) {
		return exitError{err, exitInterrupted}
	}
	if _, ok := errors.AsType[*loadgen.FailedError](err); ok {
		return exitError{err, exitNo}
	}
	return err
}

// plan is the Plan of the options.
func (o *options) plan() *loadgen.Plan {
	p := o.Plan
	p.Program.Version, p.Program.Commit = version.Number(), version.Commit()
	p.Selftest = func() (*evidence.Selftest, error) { return selftest.Stored(p.Program.Version) }
	p.Report.Definitions = o.Results.VLLMVersion.Definitions()
	p.Report.PartLabels = o.Results.Filename == ""
	p.Keep = loadgen.Keep{
		Detail: loadgen.Detail(o.Results.Record), Texts: o.Results.SaveDetailed, Latencies: o.Results.Save ||
			o.Results.Append,
		Requests: o.Results.Parts.Any() || o.Results.Plots.Any(),
	}
	for _, target := range o.Targets {
		p.Targets = append(p.Targets, target.plan())
	}
	return &p
}

// Event prints what vLLM's client prints at that step, and after a repeat what its targets did to
// each other.
func (e *experiment) Event(s loadgen.Event) {
	if s.Kind != loadgen.RepeatDone {
		e.console.Step(s)
		return
	}
	sharing.Keep(e.views, summaries(e.done[len(e.done)-s.Count:]))
	if e.several && s.Count > 0 && (e.asked.Plan.Repeat == 1 || e.asked.Results.Parts.Any()) {
		sums := summaries(e.done[len(e.done)-s.Count:])
		if err := neighbours.Targets(e.out, &e.asked.Results.Parts, sums, e.version); err != nil {
			e.unwritten = errors.Join(e.unwritten, exitError{err, exitNo})
		}
	}
}

// summaries are the Summaries of results.
func summaries(done []*loadgen.Result) (sums []*metrics.Summary) {
	for _, r := range done {
		sums = append(sums, r.Summary)
	}
	return sums
}

// Loading shows the progress, and updates the exporter.
func (e *experiment) Loading(l loadgen.Loading) (over func()) {
	shown := progress.Load{Start: l.Epoch, Began: l.Began, Until: l.Until}
	for _, load := range l.Loads {
		shown.Targets = append(shown.Targets, progress.Target{Name: load.Target, Total: load.Total, Live: load.Live})
		series := e.exported.Series(e.arm, load.Target)
		series.Begin(load.Live)
		e.series[load.Run] = series
	}
	if e.screen == nil {
		return func() {}
	}
	return progress.Show(e.screen, shown)
}

// Record updates the exporter.
func (e *experiment) Record(rec *record.Record) { e.series[rec.Run].Take(rec) }

// Done writes the files of a run, then prints its block and remarks about it.
func (e *experiment) Done(r *loadgen.Result) {
	e.done = append(e.done, r)
	e.unwritten = errors.Join(e.unwritten, e.tell(r))
}

func (e *experiment) tell(r *loadgen.Result) error {
	s, results, talk := r.Summary, e.results(r), e.about(r.Summary)
	tellPart(e.talk, &r.Plan.Shard)
	results.Parts.Cut(talk, s)
	var unsaved error
	if !e.withheld { // before the rest is printed, so that no trouble with a terminal can lose them
		results.Talk = e.talk
		unsaved = results.Write(s)
	}
	var printed error
	if !e.several { // for several targets, the tables come first
		printed = e.print(s, &results.Parts)
	}
	for _, w := range s.Ending.Warnings {
		fmt.Fprintln(talk, "WARNING:", w)
	}
	shown := screen.Of(e.talk)
	var said error
	if _, n := s.Printed.Errors.Commonest(); e.several || s.Completed > 0 || n < s.Failed { // else the last line says it
		said = report.Causes(talk, s, shown.Readable())
	}
	if s.Completed > 0 { // if not, it comes last
		for _, advice := range (&advice.Adviser{Plan: r.Plan, TokenIDs: r.TokenIDs}).On(s) {
			fmt.Fprintln(talk, "  "+advice)
		}
	}
	ending := report.Ending{Screen: shown, Name: s.Header.TargetName(), Brief: e.several,
		Extended: results.Parts.Extended, More: e.asked.rest()}
	if err := errors.Join(printed, said, ending.Write(e.talk, s), unsaved); err != nil {
		return exitError{err, exitNo}
	}
	return nil
}

// print prints the block of a run, and its requested parts.
func (e *experiment) print(s *metrics.Summary, parts *report.Parts) error {
	var block bytes.Buffer
	err := errors.Join(vllm.Failures(&block, s, e.version), vllm.Block(&block, s, e.version),
		parts.Show(&block, s, e.version))
	if _, err := e.out.Write(block.Bytes()); err != nil {
		return fmt.Errorf("printing the result block: %w", err)
	}
	return err
}

// tellRest says how to see everything about several targets.
func tellRest(talk io.Writer, shown screen.Screen, rest string) error {
	text := screen.Span{Text: "for blocks, reasons and additional metrics of each target " + rest, Tone: screen.Faint}
	label := screen.Span{Text: "More:", Tone: screen.Faint}
	return shown.Write(talk, screen.Item(label, len("More: "), shown.Readable(), text)...)
}

// rest says how to see everything about a run, with a command for a shell. A pipe or a device does not
// keep what it got.
func (o *options) rest() string {
	stream := o.Results.Stream
	info, err := os.Stat(stream)
	if kept := err != nil || info.Mode().IsRegular(); kept && stream != "" && stream != "-" {
		return "run servebench report --extended " + screen.Whole(shellWord(stream))
	}
	return "add --extended"
}

// results say what is reported of a run and where it goes.
func (e *experiment) results(r *loadgen.Result) *resultOptions {
	return &e.of(r.Plan.Target).part(r.Summary.Header.Part("-")).Results
}

// Why a run fails with --strict.
var (
	errSuspect    = errors.New("--strict: the numbers are SUSPECT")
	errUnjudged   = errors.New("--strict: the numbers are NOT JUDGED")
	errOverloaded = errors.New("--strict: the server is OVERLOADED")
)

// outcome is the exit code of what was done, and why.
func (e *experiment) outcome(ctx context.Context) error {
	for _, r := range e.done {
		if r.Summary.Ending.Interrupted {
			return exitError{targeted(r, errors.New("interrupted after "+sentOf(r))), exitInterrupted}
		}
	}
	if n := e.asked.trials(); ctx.Err() != nil && len(e.done) < n {
		return exitError{fmt.Errorf("interrupted after %d of %d runs", len(e.done), n), exitInterrupted}
	}
	for _, r := range e.done {
		if err := failure(r); err != nil {
			return exitError{err, exitNo}
		}
	}
	for _, r := range e.done {
		if err := strict(r.Summary); e.asked.Results.Strict && err != nil {
			return exitError{targeted(r, err), exitNoVerdict}
		}
	}
	return nil
}

// sentOf says how many requests of a run have ended, or how many of its sessions were completed.
func sentOf(r *loadgen.Result) string {
	of, done, noun := fmt.Sprintf(" of %d", r.Requests), r.Summary.Completed+r.Summary.Failed, "requests"
	if s := sessions.Of(r.Summary); s != nil {
		done, noun = s.Completed, "sessions"
	}
	if r.Requests < 0 {
		of = ""
	}
	return fmt.Sprintf("%d%s %s", done, of, noun)
}

// targeted puts the name of the target before an error about it.
func targeted(r *loadgen.Result, err error) error {
	if r.Plan.Target == "" {
		return err
	}
	return fmt.Errorf("target %s: %w", r.Plan.Target, err)
}

// failure says why a run without an interrupt has no result, if so.
func failure(r *loadgen.Result) error {
	switch {
	case r.Summary.Completed > 0:
		return nil
	case r.Summary.Failed == 0:
		return targeted(r, errors.New("no request was sent: none was due, or had a slot, before the end"))
	}
	message, n := r.Summary.Printed.Errors.Commonest()
	if advice := (&advice.Adviser{Plan: r.Plan, TokenIDs: r.TokenIDs}).About(message); advice != "" {
		message += ": " + advice
	}
	often := ""
	if n < r.Summary.Failed {
		often = "; " + count(n, "time")
	}
	return targeted(r, fmt.Errorf("all of %s failed%s: %s%s", count(r.Summary.Failed, "request"), often, message,
		r.Unlisted))
}

// strict is why --strict fails a run like s, nil if it passes.
func strict(s *metrics.Summary) error {
	if s.Trust == nil {
		return errUnjudged
	}
	return map[verdict.Verdict]error{verdict.Suspect: errSuspect, verdict.Overloaded: errOverloaded}[s.Trust.Verdict]
}
