package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/metrics"
)

func newRunCommand() *cobra.Command {
	return loadCommand(&cobra.Command{
		Use:   "run [flags]",
		Short: "Run one load test and print its result block",
		Long: `Run sends one dataset to one server and prints the result block, as
"vllm bench serve" does and with its flags. What that program prints goes to
stdout, all else to stderr; with -o - the record stream has stdout to itself.

Ctrl-C stops sending, gives the requests in flight --drain-timeout to end and
reports what was done, with exit code 130; a second one quits at once. When
every request failed the exit code is 1.

After the block, stderr has what it leaves out, and then whether the numbers can
be believed: VALID, SUSPECT with the reasons, or OVERLOADED where the server did not
keep up with the request rate. With --strict, the last two end with exit code 3.`,
	}, run)
}

func run(ctx context.Context, o *options) error {
	if o.Workload.Stats {
		return errors.New("argument --stats: it belongs to servebench dataset")
	}
	if o.Repeat > 1 && o.Results.Filename != "" && !o.Results.Append {
		return fmt.Errorf("argument --solo-first: it makes %d repeats, of which each would write over the file of --result-filename: take --append-result, or --repeat 1", o.Repeat)
	}
	said, err := o.join(os.Getenv)
	if err != nil {
		return err
	}
	if said != "" {
		fmt.Fprintln(os.Stderr, said)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	e := newExperiment(o, os.Stdout, os.Stderr)
	if o.Results.Stream == "-" {
		e.out = os.Stderr
	}
	if !o.Results.NoProgress {
		e.screen = os.Stderr
	}
	return o.Server.Secrets.maskError(e.run(ctx))
}

// maskError hides the secrets in what an error says, and keeps its exit code.
func (s secrets) maskError(err error) error {
	if err == nil {
		return nil
	}
	masked := errors.New(s.mask(err.Error()))
	if exit, ok := errors.AsType[exitError](err); ok {
		return exitError{masked, exit.code}
	}
	return masked
}

// interrupted says that a run was stopped before its load began, if it was.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exitError{errors.New("interrupted before the load began"), exitInterrupted}
	}
	return err
}

// allFailed says why no request of a run was answered, and what can be done.
func (b *bench) allFailed(s *metrics.Summary) error {
	message, n := s.Commonest()
	if advice := b.adviceFor(message); advice != "" {
		message += ": " + advice
	}
	return fmt.Errorf("all of %s failed; %s: %s", count(s.Failed, "request"), count(n, "time"), message)
}

// strict is why --strict lets no run like s pass, nil where it does.
func strict(s *metrics.Summary) error {
	if s.Trust == nil {
		return nil
	}
	return map[metrics.Verdict]error{metrics.Suspect: errSuspect, metrics.Overloaded: errOverloaded}[s.Trust.Verdict]
}

// count is n of a noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
