package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/columns"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/loadgen/sweep/hold"
	"github.com/servebench/servebench/loadgen/sweep/preflight"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/screen"
)

// sweepInstead is what a sweep does instead of making its runs.
type sweepInstead struct{ dryRun, check, simulate, printYAML bool }

// A sweepCommand is the verb: an experiment of many runs.
type sweepCommand struct {
	dir       string
	shown     string // dir as the user names it
	instead   sweepInstead
	arms      armFlags
	listen    string
	vllm      vllmSweep
	stop      sequentialFlags
	numbers   columns.Flag
	out, talk io.Writer

	sequential *sweep.Sequential // nil for a sweep that makes all its runs
	plan       *sweep.Plan
	exported   *exporter.Server
}

func newSweepCommand() *cobra.Command {
	c := &sweepCommand{}
	cmd := &cobra.Command{
		Use:   "sweep FILE | sweep [--arm NAME=SERVER]... FLAGS OF RUN | sweep --serve-cmd COMMAND --bench-cmd COMMAND",
		Short: "Run a grid of loads over servers, with repeats",
		Long:  sweepHelp,
		Example: `  servebench sweep --arm old='vllm serve MODEL --port ${port}' --arm new='./new serve MODEL --port ${port}' \
      --sequential --num-prompts 300 --request-rate 10
  servebench sweep experiment.yaml
  servebench sweep --base-url http://127.0.0.1:8000 --num-prompts 1,8,64 \
      --random-input-len 80,10000 --repeat 3
  servebench sweep --serve-cmd 'vllm serve MODEL' --bench-cmd 'vllm bench serve --model MODEL' \
      --serve-params serve.json --bench-params bench.json`,
		Args: cobra.ArbitraryArgs,
	}
	var f *argv.Flags
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.out, c.talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
		given := f.Passed()
		err := misplaced(given, args, c.arms)
		if err == nil {
			c.sequential, err = c.stop.plan()
		}
		if err != nil {
			return err
		}
		switch {
		case c.numbers.List:
			return report.Catalogue(c.out)
		case c.dir == "-":
			return errors.New("argument --output: '-': it must be a folder; blocks and table go to standard output, too")
		case c.vllm.asked() && c.arms != nil:
			return errors.New("argument --arm: --serve-cmd starts the servers already: give one of the two")
		case c.vllm.asked():
			if len(args)+len(given) > 0 {
				return errors.New("argument --serve-cmd: all flags of the load stand in --bench-cmd")
			}
			return c.runText(cmd.Context(), f, c.vllm.document)
		case len(args) == 1 && given == nil:
			return c.runFile(cmd.Context(), args[0])
		case len(args) == 0 && (given != nil || c.arms != nil):
			document := func() ([]byte, error) {
				return c.arms.document(f, func(_, value string) string { return value })
			}
			return c.runText(cmd.Context(), f, document)
		}
		return errors.New("sweep takes either the FILE of an experiment, or --arm NAME=COMMAND for each server, or flags " +
			"of servebench run of which some have several values, such as --num-prompts 1,8")
	}
	f = argv.Of(cmd)
	f.Extensions = []string{"yaml", "yml"}
	f.Other = emptyForm().flags
	f.Instead = insteadFlags
	c.arms.define(f)
	f.BoolVar(&c.instead.dryRun, "dry-run", false,
		"print the runs in order and how long they may take. Nothing is started")
	f.BoolVar(&c.instead.check, "check", false, "say what is missing on this machine, each with its remedy: ports, "+
		"programs, versions, GPU, models, data. Nothing is started. Exit code 1 if something is missing")
	f.BoolVar(&c.instead.simulate, "simulate", false, "make the runs in time that does not pass. All servers must be "+
		"servebench sim, which is not started, and no run has a verdict")
	f.BoolVar(&c.instead.printYAML, "print-yaml", false,
		"print the FILE that says the same as the flags. Nothing is started")
	f.StringVarP(&c.dir, "output", "o", "", "`DIR` folder for the journal, the records and the tables (default "+
		"NAME.sweep in the working directory, for FILE NAME.yaml). Without FILE the default is servebench-ID.sweep, with "+
		"an id made of the flags")
	c.numbers.Define(f, "numbers of the table and of its files")
	f.Var(argv.Parsed(&c.listen, "", parseListen), "metrics-addr",
		"`HOST:PORT` serve Prometheus metrics of the runs at this address, under /metrics; port 0 takes a free one")
	c.stop.define(f)
	c.vllm.define(f)
	f.Offer("metrics-addr", "127.0.0.1:9464")
	f.OfferFolders("output")
	return cmd
}

// misplaced is the error for arguments in which a list has a space, or in which a file and flags
// of loads are mixed.
func misplaced(given []argv.Setting, args []string, arms armFlags) error {
	if len(args) == 0 || given == nil && arms == nil {
		return nil
	}
	for _, s := range given {
		if len(s.Values) == 0 {
			continue
		}
		last, next := s.Values[len(s.Values)-1], args[0]
		urls := strings.Contains(last, "://") && strings.Contains(next, "://")
		if urls || strings.HasSuffix(last, ",") || strings.HasPrefix(next, ",") {
			list := strings.Trim(last, ",") + "," + strings.Trim(next, ",")
			return fmt.Errorf("argument --%s: write the list without spaces: --%[1]s %s", s.Flag.Name, list)
		}
	}
	if arms != nil {
		return arms.misplaced(args[0])
	}
	switch s := given[0]; s.Flag.Name {
	case "repeat":
		return fmt.Errorf("--repeat: put it into %s, as repeats: %s at the top level", args[0], strings.Join(s.Values, ","))
	case "seed":
		return fmt.Errorf("--seed: put it into %s, as seed: %s at the top level", args[0], strings.Join(s.Values, ","))
	default:
		return fmt.Errorf("--%s: %s has the flags of the loads: put it there, under load or grid", s.Flag.Name, args[0])
	}
}

const sweepHelp = `Run an experiment: a grid of loads over servers, again and again.

Any flag of servebench run that takes one value may have several, with commas: all
combinations are run, and the first such flag changes fastest. --base-url with
several URLs compares the servers, and --repeat N runs everything N times. A list
that is one value stays one: ` + listFlags + `, and
JSON. --print-yaml prints the FILE that says the same.

With --arm, the sweep compares servers without a FILE: --arm old=COMMAND starts one by
a text for the shell, --arm old=URL loads one that runs. A comma is part of the text.
A command without ${port} listens at --base-url, or at its --port.

With --serve-cmd, it takes the command line and the files of parameters of
"vllm bench sweep serve".

` + sweep.Format + `

The folder, in the working directory without -o, has a journal of the runs that are
done. The same command continues where
it was killed or interrupted, tries failed runs again, and makes no run twice. More
repeats continue in the folder; any other change needs another one. The folder also
has records.jsonl, the record stream of all runs; blocks.txt; the table as table.md,
table.csv and table.json; sharing.json, who slows whom of several targets; sweep.log
with the output of single runs; and the logs of the servers. The files of --save-result
and --append-result are written once a run is in the journal: they have no run twice,
and lack one only if servebench was killed at that moment.

With --sequential, it stops as soon as the runs decide which of two arms is worse.
A pair is a repeat of both arms. From the third pair on, the tests of servebench
compare look at all pairs so far. They are stricter than with a fixed number of pairs,
so that all looks together err in at most 5 % of cases. The sweep stops with PASS or
REGRESSED; or with FUTILE, if more pairs would hardly decide; or after --max-pairs or
--max-minutes. A pair with a run that is SUSPECT for a reason of the client is not used,
and is made again up to three times. verdict.txt has the comparison.

With --check, it says instead what is missing on this machine, with a remedy for
each: programs and their versions, the GPU and its free memory, MPS, ports, repeats
for a verdict, disk and time. It starts no server and needs no GPU.

With against, the last table has for each number of a document's block the document,
this machine and the ratio, without a verdict. against.json has the same.

At the end stdout gets the result blocks in the order of FILE, and a table. Exit code
0: all runs are done, or the pairs PASS. 1: a run FAILED, its row has the reason; or the
pairs have REGRESSED; or --check misses something. 2: misuse. 3: no verdict of a search or of the pairs, or with
--strict a run is SUSPECT or OVERLOADED. 130: interrupted.`

// runFile runs the experiment of a file.
func (c *sweepCommand) runFile(ctx context.Context, file string) error {
	if c.instead.printYAML {
		return errors.New("argument --print-yaml: it prints a file made of flags, and there is one already: " + file)
	}
	if strings.Contains(file, "://") {
		return fmt.Errorf("%s: it is no FILE: give a URL as --base-url URL", redact.URL(file))
	}
	f, err := argv.OpenYAML(file)
	if wrong, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(file, "@") {
		return fmt.Errorf("%s: %w", redact.URL(file), wrong.Err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	origin, place := "", ""
	if c.dir == "" {
		place = " in the working directory"
		c.dir = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".yaml"), ".yml") + folderEnd(c.instead.simulate)
		if origin, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	c.shown = c.dir + place
	leave, err := c.enter(f)
	if err != nil {
		return err
	}
	defer leave()
	if c.plan, err = sweep.Parse(file, f, c.flags()); err != nil {
		return err
	}
	c.plan.Origin = origin
	return c.run(ctx, file)
}

// folderEnd is the end of the name of the folder for a file.
func folderEnd(simulated bool) string {
	if simulated {
		return ".simulated.sweep"
	}
	return ".sweep"
}

// runText runs the experiment that flags ask for: the file that document makes of them.
func (c *sweepCommand) runText(ctx context.Context, f *argv.Flags, document func() ([]byte, error)) error {
	text, err := document()
	if err != nil {
		return err
	}
	if c.plan, err = sweep.Parse("", bytes.NewReader(text), c.flags()); err != nil {
		return err
	}
	if c.instead.printYAML && c.vllm.asked() {
		_, err := c.out.Write(text)
		return err
	}
	if c.instead.printYAML {
		return c.print(f)
	}
	c.plan.Any(func(p *loadgen.Plan) bool {
		argv.Hide(p.Server.Secrets.Texts())
		return true
	})
	if c.dir == "" {
		c.dir = c.plan.Folder(c.arms.names()...)
	}
	c.shown = c.dir
	return c.run(ctx, "")
}

// print prints the file that is equivalent to the flags, without their secrets.
func (c *sweepCommand) print(f *argv.Flags) error {
	hidden := false
	text, err := c.arms.document(f, func(name, value string) string {
		shown := f.Other.Show(name, value)
		hidden = hidden || shown != value
		return shown
	})
	if err != nil {
		return err
	}
	if hidden {
		c.warn("--print-yaml hides secrets: put them in where the file says " + redact.Mark)
	}
	_, err = c.out.Write(text)
	return err
}

// run runs the plan, which is from a file of that name, or from the command line.
func (c *sweepCommand) run(ctx context.Context, file string) (err error) {
	if c.plan.Repeats == 1 && c.plan.Any(func(p *loadgen.Plan) bool { return p.SoloFirst }) {
		c.warn(oneOrder)
	}
	if c.instead.dryRun {
		return c.plan.Describe(c.out, cmp.Or(file, "the command line"), c.dir)
	}
	if err := findable(); err != nil {
		return err
	}
	if c.instead.check {
		return c.preflight(ctx)
	}
	if err := c.plan.Check(file); err != nil {
		return err
	}
	if c.plan.Any(func(p *loadgen.Plan) bool { return p.Server.Transport.Insecure }) {
		c.warn(insecureWarning)
	}
	if few := c.plan.TooFew(); few != "" && !c.instead.simulate {
		c.say(few)
	}
	if c.exported, err = serveMetrics(c.listen, c.talk); err != nil {
		return err
	}
	defer c.exported.Close()
	ctx, stop := interruptible(ctx)
	defer stop()
	c.say("results go to " + c.shown)
	s := &sweep.Sweep{Plan: c.plan, Dir: c.dir, Numbers: c.numbers.Chosen, Out: c.out, Talk: c.talk}
	result, err := s.Run(ctx)
	return c.outcome(ctx, result, err)
}

// preflight says what this machine lacks.
func (c *sweepCommand) preflight(ctx context.Context) error {
	found := preflight.Run(ctx, c.plan, c.dir, preflight.This())
	if err := found.Write(c.out); err != nil {
		return err
	}
	if n := found.Count(preflight.Missing); n > 0 {
		return exitError{fmt.Errorf("--check: %s missing", metrics.Counted(n, "thing")), exitNo}
	}
	return nil
}

// enter goes to the folder of the experiment's file, to which the paths in it and the
// commands are relative. The func goes back. Only a plain file
// has a folder.
func (c *sweepCommand) enter(f *os.File) (leave func(), err error) {
	info, err := f.Stat()
	folder := filepath.Dir(f.Name())
	if err != nil || !info.Mode().IsRegular() || folder == "." {
		return func() {}, err
	}
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return nil, err
	}
	before, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return func() { os.Chdir(before) }, os.Chdir(folder)
}

// outcome is the exit code of a sweep, and the reason.
func (c *sweepCommand) outcome(ctx context.Context, r *sweep.Result, err error) error {
	switch {
	case errors.Is(err, sweep.ErrOther):
		return err
	case r == nil:
		return exitError{err, exitNo}
	case ctx.Err() != nil:
		return exitError{fmt.Errorf("interrupted after %s: the same command continues", metrics.Counted(r.Runs, "run")),
			exitInterrupted}
	case err != nil:
		return exitError{err, exitNo}
	case r.Failed > 0:
		return exitError{fmt.Errorf("%s failed: the same command tries again", metrics.Counted(r.Failed, "run")), exitNo}
	case r.Open:
		return exitError{errors.New("a search has NO VERDICT: the line below the table says why"), exitNoVerdict}
	case r.Doubted != nil:
		return exitError{strict(r.Doubted), exitNoVerdict}
	case r.Decision != nil:
		return decided(r.Decision)
	}
	if arms := c.plan.Arms; len(arms) == 2 && c.plan.Search == nil && !c.instead.simulate {
		unit := ""
		if c.plan.Kept() != nil {
			unit = "--unit run "
		}
		c.say(fmt.Sprintf("which is worse: servebench compare %s%s --arms %s", unit, shellWord(c.dir),
			shellWord(arms[0].Name+","+arms[1].Name)))
	}
	return nil
}

func (c *sweepCommand) warn(what string) { c.say("WARNING: " + what) }

func (c *sweepCommand) say(line string) { screen.Of(c.talk).Say(c.talk, line+"\n") }

// newHolderCommand makes the verb that sweep runs as a separate process for each
// server.
func newHolderCommand() *cobra.Command {
	return &cobra.Command{
		Use:    hold.Verb + " JSON",
		Short:  "Run a server until standard input ends",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if code, err := hold.Main(args[0]); code != 0 {
				return exitError{err, code}
			}
			return nil
		},
	}
}
