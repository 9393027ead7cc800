package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/heap"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/report/against"
	"github.com/servebench/servebench/report/comparison"
	"github.com/servebench/servebench/report/save"
	"github.com/servebench/servebench/report/screen"
)

// A compareCommand is `servebench compare` and its flags.
type compareCommand struct {
	out, talk io.Writer
	stdin     io.Reader

	arms         string
	where        []compare.Condition
	limits       gateFlags
	plan         planFlags
	baseline     string
	saveBaseline string
	dryRun       bool
	comparisonForms

	gate    gating.Gate
	missing bool               // the baseline's file does not exist
	counted record.Definitions // by which recorded streams are counted; empty for each run's own
}

// comparisonForms are in which forms a comparison is written.
type comparisonForms struct {
	format   string   // of standard output
	writes   []string // files, each FORMAT=FILE
	extended bool     // with every number
}

func newCompareCommand() *cobra.Command {
	c := &compareCommand{}
	cmd := &cobra.Command{
		Use:   "compare [flags] OLD… -- NEW…",
		Short: "Say whether runs are worse, by the exit code too",
		Long:  compareHelp,
		Example: `  servebench compare old/ -- new/
  servebench compare kvcached.sweep --arms without,with --margin p99_ttft=10%
  servebench compare main.jsonl --save-baseline baseline.jsonl
  servebench compare --baseline baseline.jsonl --gate gate.yaml \
      --write junit=compare.xml new.jsonl`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			heap.Small(heap.Large)
			c.out, c.talk, c.stdin = cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.InOrStdin()
			return c.run(args, cmd.ArgsLenAtDash())
		},
	}
	f := argv.Of(cmd)
	f.StringVar(&c.arms, "arms", "", "`OLD,NEW` compare runs of one source; each is an arm of a sweep, a --label or a "+
		"target. One name takes this arm of the new side")
	where := func(text string) error {
		condition, err := compare.ParseCondition(text)
		c.where = append(c.where, condition)
		return err
	}
	f.Func("where", "`NAME=VALUE` take only runs with this flag of run, arm or target, as request-rate=10; may be "+
		"repeated", where)
	f.Func("target", "`NAME` take only runs of this target, 'NAME alone' or 'NAME with OTHER'. It is short for --where "+
		"target=NAME", func(name string) error { return where("target=" + name) })
	c.limits.define(f)
	c.plan.define(f)
	f.StringVar(&c.baseline, "baseline", "", "`FILE` compare with the sessions kept in this file. From 4 on they show "+
		"how much days differ")
	f.StringVar(&c.saveBaseline, "save-baseline", "", "`FILE` keep the runs in this file, after the sessions that it has")
	f.StringVar(&c.format, "format", "text", "`FORMAT` format of standard output")
	f.Choices("format", compareFormatNames()...)
	f.StringArrayVar(&c.writes, "write", nil, "`FORMAT=FILE` also write a file in this format; may be repeated")
	f.BoolVar(&c.extended, "extended", false, "show every number. Else those that are not gated are left out if they "+
		"do not differ, or have few samples")
	f.BoolVar(&c.dryRun, "dry-run", false, "check the flags and the gate, and say what is gated. No run is read")
	var ofFormats []string
	for _, format := range compareFormatNames() {
		ofFormats = append(ofFormats, format+"=")
	}
	f.Offer("write", ofFormats...)
	f.OfferFiles("baseline", "jsonl", "json")
	f.OfferFiles("save-baseline", "jsonl", "json")
	return cmd
}

const compareHelp = `Say whether runs are worse than others.

OLD and NEW are record streams (servebench run -o FILE), folders of sweeps or of
such files, result files of vLLM, or texts with result blocks. Every run in them
counts. FILE:2 is the second run of a file, FILE:2-5 the second to the fifth.
--arms compares the runs of one source.

If OLD is one pasted result block, and no flag of a gate is given, there is a
table of the block, the new runs and their ratios. A block is one run, so there
is no verdict, and the exit code is 0.

The evidence is server starts, not requests, so each side needs several;
servebench prints how many. Output throughput, median TTFT and median TPOT are
gated, each with a margin of 5 %, and so are failed requests. --margin gates
another number, --advisory gates none. New runs that are OVERLOADED where the
old ones were not are worse, too. There is no verdict on single runs, text
blocks, runs that are SUSPECT or were cut short, and sides with different
parameters.

Exit code 0: no gated number got worse. 1: one did. 2: misuse. 3: no verdict.`

func compareFormatNames() []string { return slices.Sorted(maps.Keys(comparison.Formats)) }

func (c *compareCommand) run(args []string, dash int) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := save.Clash(outputFiles(c.saveBaseline, c.writes),
		append([]string{c.baseline, c.limits.file}, args...)); err != nil {
		return err
	}
	if c.dryRun {
		return compare.DescribeGate(c.out, &c.gate)
	}
	if c.saveBaseline != "" {
		return c.save(args, dash)
	}
	if c.plan.asked {
		return c.plan.write(c, args, dash)
	}
	old, new, err := c.chosen(args, dash)
	if err != nil {
		return err
	}
	notes, err := c.obey(old, new)
	if err == nil && !c.missing {
		err = compare.Unmixed(old, new, c.gate.Despite)
	}
	if err != nil {
		return err
	}
	if b := published.Of(old, new); b != nil && !judges(c) {
		return nextTo(c.out, b, c)
	}
	if c.counted = brief.Recount(old, new); c.counted != "" {
		if old, new, err = c.recounted(args, dash); err != nil {
			return err
		}
		notes = append(notes, fmt.Sprintf("the runs were recorded with the definitions of several releases of vLLM: all "+
			"are counted with the definitions of %s", c.counted))
	}
	result := compare.Compare(old, new, c.gate)
	result.Conclude()
	result.Whole = c.extended
	if c.missing {
		result.Reasons = []string{fmt.Sprintf("there is no baseline: %s does not exist. Make it of runs that you trust, "+
			"with servebench compare --save-baseline or, in the GitHub Action, with update-baseline: true on the default "+
			"branch", c.baseline)}
	}
	result.Notes = append(result.Notes, notes...)
	if err := c.write(result); err != nil {
		return err
	}
	return decided(result)
}

// obey takes the gate that the sweep of the runs recorded, if one did. The flags of the gate change it,
// and a note says so.
func (c *compareCommand) obey(old, new []*brief.Run) (notes []string, err error) {
	if c.baseline != "" {
		return nil, nil
	}
	rule, gate, notes, err := brief.Recorded(slices.Concat(old, new))
	if rule == nil || err != nil {
		return nil, err
	}
	if c.limits.given() {
		if gate, err = c.limits.change(gate); err != nil {
			return nil, err
		}
		if gate.Text() != rule.Gate {
			notes = append(notes, brief.Overruled(rule.Gate))
		}
	}
	c.gate = gate
	return notes, nil
}

// decided is the exit code of a comparison.
func decided(result *compare.Comparison) error {
	switch verdict := errors.New(string(result.Verdict)); result.Verdict {
	case compare.Pass:
		return nil
	case compare.Regressed:
		return exitError{verdict, exitNo}
	default:
		return exitError{verdict, exitNoVerdict}
	}
}

// recounted reads the sides again, to count their streams by other definitions. It repeats no
// messages about the files.
func (c *compareCommand) recounted(args []string, dash int) (old, new []*brief.Run, err error) {
	if slices.Contains(args, "-") {
		return nil, nil, fmt.Errorf("standard input: the runs were recorded with the definitions of several releases of "+
			"vLLM, and counting all with the definitions of %s takes reading them twice: put them into a file", c.counted)
	}
	c.talk = io.Discard
	return c.chosen(args, dash)
}

// check looks at the flags before any file is read.
func (c *compareCommand) check() error {
	for _, w := range c.writes {
		if format, file, _ := strings.Cut(w, "="); comparison.Formats[format] == nil || file == "" {
			return fmt.Errorf("argument --write: %s: it must be FORMAT=FILE with a format of %s", pyjson.Quote(w),
				strings.Join(compareFormatNames(), ", "))
		}
	}
	switch {
	case c.saveBaseline != "" && (c.baseline != "" || c.arms != ""):
		return errors.New("--save-baseline keeps one set of runs: it goes with neither --baseline nor --arms")
	case c.baseline != "" && c.arms != "":
		return errors.New("--baseline is the old side: it does not go with --arms")
	case !c.plan.asked && (c.plan.noise != "" || c.plan.pairs != usualPairs):
		return errors.New("--noise and --max-pairs are of a plan: give --plan, too")
	}
	var err error
	c.gate, err = c.limits.read()
	return err
}

// chosen are the runs that are compared.
func (c *compareCommand) chosen(args []string, dash int) (old, new []*brief.Run, err error) {
	if old, new, err = c.sides(args, dash); err != nil {
		return nil, nil, err
	}
	if old, new, err = compare.Choose(old, new, c.where); err != nil {
		return nil, nil, fmt.Errorf("argument --where or --target: %w", err)
	}
	return old, new, nil
}

// sides are the runs of both sides.
func (c *compareCommand) sides(args []string, dash int) (old, new []*brief.Run, err error) {
	switch {
	case c.baseline != "":
		switch {
		case len(args) == 0:
			return nil, nil, errors.New("--baseline is the old side: give the files of the new runs")
		case dash > 0:
			return nil, nil, errors.New("--baseline is the old side: give the new runs alone")
		}
		return c.withBaseline(args)
	case c.arms != "" && (dash < 0 || strings.Contains(c.arms, ",")):
		switch {
		case len(args) == 0:
			return nil, nil, errors.New("--arms compares runs of one source: give its file or folder")
		case dash >= 0:
			return nil, nil, errors.New("--arms OLD,NEW compares runs of one source: give no --, or one name, which is an " +
				"arm of the new side")
		}
		return c.armsOf(args)
	case dash < 0 && c.arms == "" && len(args) > 0:
		return c.armsOf(args)
	case dash <= 0 || dash == len(args):
		runs, err := c.read(args)
		return nil, nil, cmp.Or(err, oneSided(args, runs))
	}
	old, err = c.read(args[:dash])
	if err != nil {
		return nil, nil, err
	}
	new, err = c.read(args[dash:])
	if err == nil && c.arms != "" {
		if new, err = compare.Arm(new, c.arms); err != nil {
			err = fmt.Errorf("argument --arms: %w", err)
		}
	}
	return old, new, err
}

// oneSided is the error for a command line that has one set of runs. It says how to compare their
// arms, if there are several.
func oneSided(args []string, runs []*brief.Run) error {
	const sides = "compare needs two sides: OLD… -- NEW…, or runs of several arms and --arms OLD,NEW, or new runs and " +
		"--baseline FILE"
	if len(args) == 0 {
		return errors.New(sides)
	}
	names := compare.ArmNames(runs)
	if len(names) < 2 {
		return fmt.Errorf("%s\nput -- between the old and the new ones of %s", sides, strings.Join(args, " "))
	}
	return fmt.Errorf("%s\n--arms can be two of: %s", sides, strings.Join(names, ", "))
}

// read reads the runs of files and folders.
func (c *compareCommand) read(names []string) ([]*brief.Run, error) {
	for _, name := range names {
		if _, err := os.Stat(name); err != nil && len(name) > 1 && name[0] == '-' {
			return nil, fmt.Errorf("%s: there is no such file, and flags must be before the --", name)
		}
	}
	recorded := stream.Recorded{
		Ask: metrics.Ask{Definitions: c.counted}, Stdin: c.stdin, Stream: sweep.RecordsName, Finished: sweep.Finished,
		Warn: func(text string) { screen.Of(c.talk).Say(c.talk, "WARNING: "+text+"\n") },
	}
	sums, err := recorded.Read(names...)
	return brief.Runs(sums, c.gate.Extra()...), err
}

// armsOf are the runs of two arms of one source: of --arms, or of the sequential sweep that made the runs,
// which recorded which is the old one.
func (c *compareCommand) armsOf(args []string) (old, new []*brief.Run, err error) {
	all, err := c.read(args)
	if err != nil {
		return nil, nil, err
	}
	if c.arms == "" {
		rule, _, _, err := brief.Recorded(all)
		if rule == nil || err != nil {
			return nil, nil, cmp.Or(err, oneSided(args, all))
		}
		c.arms = rule.Old + "," + rule.New
	}
	a, b, ok := strings.Cut(c.arms, ",")
	if !ok || a == b {
		return nil, nil, fmt.Errorf("argument --arms: %s: it must be two names, OLD,NEW, of %s", pyjson.Quote(c.arms),
			strings.Join(compare.ArmNames(all), ", "))
	}
	if old, err = compare.Arm(all, a); err == nil {
		new, err = compare.Arm(all, b)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("argument --arms: %w", err)
	}
	return old, new, nil
}

// write writes the comparison to standard output and to the files.
func (c *compareCommand) write(result *compare.Comparison) error {
	var text strings.Builder
	errs := []error{comparison.Formats[c.format](&text, result)}
	if shown := screen.Of(c.out); c.format == "text" {
		errs = append(errs, shown.Say(c.out, text.String()))
	} else {
		_, err := io.WriteString(c.out, text.String())
		errs = append(errs, err)
	}
	return errors.Join(append(errs, writeFiles(c.writes,
		func(w io.Writer, format string) error { return comparison.Formats[format](w, result) }))...)
}

// nextTo writes a document's block next to runs.
func nextTo(out io.Writer, b *published.Block, c *compareCommand) error {
	write := func(w io.Writer, format string) error {
		return against.Formats[format](w, []*published.Block{b})
	}
	if err := writeFiles(c.writes, write); err != nil {
		return err
	}
	if shown := screen.Of(out); shown.IsTerminal() && c.format == "text" {
		return against.Write(out, []*published.Block{b}, shown)
	}
	return write(out, c.format)
}

// judges reports that a verdict is asked for: with a gate, or in a format that has one.
func judges(c *compareCommand) bool {
	lacks := func(format string) bool {
		name, _, _ := strings.Cut(format, "=")
		return against.Formats[name] == nil
	}
	return c.limits.given() || c.baseline != "" || lacks(c.format) || slices.ContainsFunc(c.writes, lacks)
}

// writeFiles writes files, each FORMAT=FILE.
func writeFiles(files []string, write func(w io.Writer, format string) error) error {
	var errs []error
	for _, w := range files {
		format, file, _ := strings.Cut(w, "=")
		errs = append(errs, replaceFile(file, func(w io.Writer) error { return write(w, format) }))
	}
	return errors.Join(errs...)
}

// outputFiles are the names of the files to write: a baseline, "" for none, and files as FORMAT=FILE.
func outputFiles(baseline string, files []string) (names []string) {
	if baseline != "" {
		names = append(names, baseline)
	}
	for _, w := range files {
		_, file, _ := strings.Cut(w, "=")
		names = append(names, file)
	}
	return names
}

// replaceFile writes a file at once, when its content is complete.
func replaceFile(name string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o666)
}
