package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/loadgen/sweep"
)

// A sweepCommand is the verb: an experiment of many runs.
type sweepCommand struct {
	dir       string
	dryRun    bool
	listen    string
	out, talk io.Writer

	plan     *sweep.Plan
	runs     map[sweep.Cell]*options // the first run of each cell, checked
	journal  *sweep.Journal
	log      *os.File // what single runs say
	exported *exporter.Server
	pace     pace
}

func newSweepCommand() *cobra.Command {
	c := &sweepCommand{}
	cmd := &cobra.Command{
		Use:   "sweep FILE",
		Short: "Run an experiment: a grid of loads over servers, again and again",
		Long:  sweepHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("sweep takes one FILE, that of the experiment, as in servebench sweep experiment.yaml")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.out, c.talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&c.dryRun, "dry-run", false, "print what would be run, in order, and how long it may take; needs no server")
	f.StringVarP(&c.dir, "output", "o", "", "folder for the journal, the records and the tables (default FILE without .yaml, with .sweep)")
	f.StringVar(&c.listen, "metrics-addr", "", "serve Prometheus metrics of the loads at `HOST:PORT` meanwhile, at /metrics; port 0 takes one that is free")
	return cmd
}

const sweepHelp = `Run an experiment: a grid of loads over servers, again and again.

FILE is YAML. Paths in it are relative to its folder, in which commands start. All
keys may be left out:

  seed: 0             # of the first run; repeats and points differ, arms only where they load one server
  repeats: 4          # of each point on each arm
  order: abba         # every other repeat has the arms the other way round; or random, or given
  load:               # flags of servebench run, for all runs
    random-output-len: 128
  grid:               # flags with several values: all combinations, the last key changing fastest
    request-rate: [inf, 16]
    zip:              # these go together: 1 and 60, 2 and 120
      max-concurrency: [1, 2]
      num-prompts: [60, 120]
  arms:               # what is compared
    - name: plain
      url: http://127.0.0.1:8000    # where the load goes: --base-url
      load: {}                      # flags of this arm alone
    - name: kvcached
      url: http://127.0.0.1:${port} # a free port, the same one in the command; also ${port2} and so on
      command: [vllm, serve, MODEL, --port, "${port}"]   # or one text for the shell
      env: {ENABLE_KVCACHED: "true"}   # beside our own, less OPENAI_API_KEY
      ready: http://127.0.0.1:${port}/health   # answers 200 once it is up (default URL/v1/models)
      ready-timeout: 15m
      stop: [docker, stop, NAME]    # before SIGTERM
      stop-timeout: 30s             # before SIGKILL
      log: kvcached.log
      folder: DIR                   # to start it in
      servers: []                   # several of these instead, with the keys from command on
    - name: together
      servers: []
      load: {target: ["a=http://127.0.0.1:${port}", "b=http://127.0.0.1:${port2}"], solo-first: true}
  between:            # before each run
    reset-prefix-cache: true
    command: ./settle.sh            # has SERVEBENCH_ARM and SERVEBENCH_URL
    timeout: 10m                    # of the command
    pause: 5s
  until:              # find the highest value at which probes pass, in place of one run a point
    flag: request-rate              # or max-concurrency
    from: 1
    to: 64
    step: 1
    slo: {p99-ttft: 200, mean-tpot: 50}   # in milliseconds; p99 needs 1,000 requests a probe, p90 100
    confirm: 2                      # more probes of each of the two values at the edge; most of a value's decide

A grid may be a list of such mappings, one after the other. The servers of an arm
are started for each repeat and stopped after it, with all that they have
started; they stop as well when servebench is killed. So does the command
between runs: it leaves nothing running.

The journal in the folder has what is done. The same command goes on where it was
killed or interrupted, does again what failed, and does nothing twice; a changed
FILE needs another folder. Beside it are records.jsonl, the record stream of all
runs, blocks.txt, table.md, table.csv, table.json, sweep.log with what single
runs said, and logs with what the servers said. The files of --save-result and
--append-result are written once a run is in the journal: they have none twice,
and lack one only if servebench was killed at that moment.

At the end stdout has the result blocks in the order of FILE and a table. A run
that cannot be done is a FAILED row with its reason, and the exit code is 1.`

func (c *sweepCommand) run(ctx context.Context, file string) error {
	if c.dir == "-" {
		return errors.New("argument --output: '-': it must be a folder; blocks and table go to standard output, too")
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.dir == "" {
		c.dir = strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml") + ".sweep"
	}
	leave, err := c.enter(f)
	if err != nil {
		return err
	}
	defer leave()
	if err := c.read(file, f); err != nil {
		return err
	}
	if c.listen != "" {
		if _, err := parseListen(c.listen); err != nil {
			return fmt.Errorf("argument --metrics-addr: %w", err)
		}
	}
	if c.oneOrder() {
		c.say("WARNING: %s", oneOrder)
	}
	if c.dryRun {
		return c.describe(file)
	}
	if err := c.plan.Check(file); err != nil {
		return err
	}
	insecure := false
	for _, o := range c.runs {
		if err := o.Watch.Check(); err != nil {
			return err
		}
		insecure = insecure || o.Server.Insecure
	}
	if insecure {
		c.say("WARNING: %s", insecureWarning)
	}
	if c.exported, err = serveMetrics(c.listen, c.talk); err != nil {
		return err
	}
	defer c.exported.Close()
	ctx, stop := interruptible(ctx)
	defer stop()
	if err := c.open(ctx); err != nil {
		return exitError{err, exitNo}
	}
	defer c.journal.Close()
	defer c.log.Close()
	s := &sweep.Sweep{Plan: c.plan, Journal: c.journal, Load: c.load, Mask: c.mask, Say: c.say}
	err = s.Do(ctx)
	return c.finish(ctx, s, err)
}

// enter goes to the folder of the experiment's file, to which the paths in it and the
// commands are relative. The func goes back. What is no plain file has no folder of
// its own.
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

// mask hides the secrets of all runs: a server's log may quote them.
func (c *sweepCommand) mask(text string) string {
	for _, o := range c.runs {
		text = o.Server.Secrets.Mask(text)
	}
	return text
}

// stopMargin is what a busy machine may add to the time that servers have to stop.
const stopMargin = 30 * time.Second

// open opens the sweep's folder.
func (c *sweepCommand) open(ctx context.Context) error {
	// The servers of another one may still be stopping.
	told, until := false, time.Now().Add(c.plan.StopTime()+stopMargin)
	patience := func() bool {
		if !told {
			c.say("waiting for another sweep in %s to end", c.dir)
			told = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
		return ctx.Err() == nil && time.Now().Before(until)
	}
	var err error
	if c.journal, err = sweep.OpenJournal(c.dir, c.plan, patience); err != nil {
		return err
	}
	for _, o := range c.runs {
		if o.Results.SaveDetailed { // then the records hold texts
			err = c.journal.Records.Chmod(0o600)
		}
	}
	if err != nil {
		c.journal.Close()
		return err
	}
	if c.log, err = os.OpenFile(filepath.Join(c.dir, "sweep.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
		c.journal.Close()
		return err
	}
	c.pace = newPace(c)
	if n := len(c.journal.Entries()); n > 0 {
		c.say("going on in %s after %s", c.dir, count(n, "run"))
	}
	return nil
}

// finish writes what the sweep came to; err is what ended it early.
func (c *sweepCommand) finish(ctx context.Context, s *sweep.Sweep, err error) error {
	result, readErr := c.result(s)
	if readErr == nil {
		readErr = result.write()
	}
	switch {
	case ctx.Err() != nil:
		return exitError{fmt.Errorf("interrupted after %s: the same command goes on", count(len(c.journal.Entries()), "run")), exitInterrupted}
	case err != nil || readErr != nil:
		return exitError{errors.Join(err, readErr), exitNo}
	case result.failed > 0:
		return exitError{fmt.Errorf("%s failed: the same command tries again", count(result.failed, "run")), exitNo}
	case result.strict != nil:
		return exitError{result.strict, exitNoVerdict}
	}
	if arms := c.plan.Arms; len(arms) == 2 && c.plan.Search == nil {
		c.say("which is worse: servebench compare %s --arms %s,%s", c.dir, arms[0].Name, arms[1].Name)
	}
	return nil
}

func (c *sweepCommand) say(format string, args ...any) {
	fmt.Fprintf(c.talk, format+"\n", args...)
}
