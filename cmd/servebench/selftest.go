package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/version"
	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// A selftestCommand is the verb: how accurate is this machine?
type selftestCommand struct {
	streams  []int
	duration time.Duration
	quick    bool
	json     bool
	noStore  bool

	chosen    bool // --streams was given
	out, talk io.Writer
}

func newSelftestCommand() *cobra.Command {
	t := &selftestCommand{talk: os.Stderr}
	cmd := &cobra.Command{
		Use:   "selftest [flags]",
		Short: "Measure how accurate servebench is on this machine",
		Long:  selftest.Explanation,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t.out = cmd.OutOrStdout()
			t.chosen = cmd.Flags().Changed("streams")
			return t.run(cmd.Context())
		},
	}
	f := argv.Of(cmd)
	f.BoolVar(&t.quick, "quick", false, "measure fewer and shorter rows, in 50 s")
	f.IntSliceVar(&t.streams, "streams", []int{64, 256, 1024, 2048, 4096},
		"`N,N` numbers of concurrent streams to measure, a row for each. If given, the rows about bursts of starts are "+
			"left out")
	f.DurationVar(&t.duration, "duration", 4*time.Second,
		"`TIME` time to measure each row, as 4s, once all its streams have started")
	f.BoolVar(&t.json, "json", false, "print one JSON object instead of tables")
	f.BoolVar(&t.noStore, "no-store", false, "do not keep the result. servebench run uses it to judge its own accuracy")
	return cmd
}

func (t *selftestCommand) run(ctx context.Context) error {
	if err := t.settle(); err != nil {
		return err
	}
	loads, err := t.loads()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	result := selftest.NewResult(version.Number())
	if !t.json {
		result.WriteHead(t.out)
	}
	for _, l := range loads {
		l.Spelling = advice.Spelling
	}
	failed := result.Measure(ctx, loads, selftest.Program(self), func(l *selftest.Load) {
		fmt.Fprintf(t.talk, "measuring %s, some %.0f s\n", l.Name, max(l.Lasts().Seconds(), 1))
	})
	return t.end(result, failed, ctx.Err() != nil)
}

// settle checks the flags and completes them.
func (t *selftestCommand) settle() error {
	if t.duration <= 0 {
		return fmt.Errorf("argument --duration: %v: it must be above 0", t.duration)
	}
	if t.quick {
		t.duration = min(t.duration, 1500*time.Millisecond)
		if !t.chosen {
			t.streams = []int{64, 256, 1024}
		}
	}
	if len(t.streams) == 0 || slices.Min(t.streams) < 1 {
		return errors.New("argument --streams: they must be numbers of 1 or more, with commas between them")
	}
	return nil
}

// loads are the loads to measure.
func (t *selftestCommand) loads() ([]*selftest.Load, error) {
	if t.chosen {
		return selftest.InSteps(t.streams, t.duration), nil
	}
	return selftest.Loads(t.streams, t.duration)
}

// end prints the result, which lacks rows if measuring failed or was interrupted, and stores a
// complete one for later runs.
func (t *selftestCommand) end(result *selftest.Result, failed error, interrupted bool) error {
	if failed != nil && !interrupted {
		return exitError{failed, exitNo}
	}
	write := result.WriteTables
	if t.json {
		write = result.WriteJSON
	}
	if len(result.Rows) > 0 {
		if err := write(t.out); err != nil {
			return exitError{err, exitNo}
		}
	}
	switch {
	case interrupted:
		return exitError{errors.New("interrupted"), exitInterrupted}
	case t.noStore || t.chosen:
		return nil
	}
	switch name, err := result.Store(); {
	case err != nil:
		fmt.Fprintln(t.talk, "WARNING: the result is not kept:", err)
	case name != "":
		fmt.Fprintf(t.talk, "kept in %s: servebench run compares itself with it\n", name)
	}
	return nil
}

// newSelftestServerCommand makes the verb that selftest runs in a separate process.
func newSelftestServerCommand() *cobra.Command {
	s := new(metronome.Server)
	cmd := &cobra.Command{
		Use:    "selftest-server",
		Short:  "Serve streams that tell when they were written, until standard input ends",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Ctrl-C reaches all processes of a terminal. Selftest ends this one itself.
			signal.Ignore(os.Interrupt)
			if err := selftest.Serve(s, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return exitError{err, exitNo}
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&s.TTFT, "ttft", 0, "from a request's arrival to its first event, at least")
	cmd.Flags().DurationVar(&s.ITL, "itl", 20*time.Millisecond, "between the events of a stream")
	cmd.Flags().BoolVar(&s.Aligned, "aligned", false, "write to all streams at the same instants")
	return cmd
}
