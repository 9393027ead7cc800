package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
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
be believed: VALID, or SUSPECT with the reasons. With --strict, SUSPECT ends with
exit code 3.`,
	}, run)
}

func run(ctx context.Context, o *options) error {
	if o.Workload.Stats {
		return errors.New("argument --stats: it belongs to servebench dataset")
	}
	b := &bench{options: o, out: os.Stdout, talk: os.Stderr, patience: 10 * time.Second}
	if o.Results.Stream == "-" {
		b.out = os.Stderr
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	err := b.run(ctx)
	if exit, ok := errors.AsType[exitError](err); ok {
		return exitError{errors.New(o.Server.Secrets.mask(exit.Error())), exit.code}
	}
	return err
}

// run is one load test from its options to its results.
func (b *bench) run(ctx context.Context) error {
	for _, w := range b.Warnings {
		fmt.Fprintln(b.talk, "WARNING:", w)
	}
	var err error
	if b.results, err = openResults(b.Results); err != nil {
		return err
	}
	summary, err := b.test(ctx)
	if summary == nil {
		return err
	}
	told := b.finish(summary)
	if err == nil {
		return told
	}
	if told != nil {
		fmt.Fprintln(b.talk, "servebench:", told)
	}
	return err
}

// test is the load test without what comes of it. The summary is nil when no load
// was sent, and there may be both it and an error when the load was cut short.
func (b *bench) test(ctx context.Context) (*metrics.Summary, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, interrupted(ctx, err)
	}
	if err := b.rehearse(ctx); err != nil {
		return nil, interrupted(ctx, err)
	}
	return b.measure(ctx)
}

// interrupted says that a run was stopped before its load began, if it was.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exitError{errors.New("interrupted before the load began"), exitInterrupted}
	}
	return err
}

// finish prints the block, writes the files and gives the verdict.
func (b *bench) finish(s *metrics.Summary) error {
	printed := errors.Join(report.Failures(b.out, s, b.Results.VLLMVersion), report.Block(b.out, s, b.Results.VLLMVersion))
	for _, w := range s.Warnings {
		fmt.Fprintln(b.talk, "WARNING:", w)
	}
	tellFailures(b.talk, s)
	said := errors.Join(report.Truth(b.talk, s), report.Verdict(b.talk, s))
	if err := errors.Join(printed, said, b.results.close(s)); err != nil {
		return exitError{err, exitNo}
	}
	switch {
	case s.Interrupted:
		return exitError{fmt.Errorf("interrupted after %d of %d requests", s.Completed+s.Failed, b.n), exitInterrupted}
	case s.Completed == 0 && s.Failed > 0:
		return exitError{allFailed(s), exitNo}
	case b.Results.Strict && suspect(s):
		return exitError{errSuspect, exitNoVerdict}
	}
	return nil
}

// allFailed says why no request of a run was answered.
func allFailed(s *metrics.Summary) error {
	message, n := mostFrequent(s.Errors)
	return fmt.Errorf("all of %s failed; %s: %s", count(s.Failed, "request"), count(n, "time"), message)
}

// suspect says whether the numbers of a run cannot be believed.
func suspect(s *metrics.Summary) bool { return s.Trust != nil && s.Trust.Verdict == metrics.Suspect }

// tellFailures says how the failed requests failed.
func tellFailures(w io.Writer, s *metrics.Summary) {
	if s.Failed == 0 || s.Completed == 0 {
		return
	}
	message, n := mostFrequent(s.Errors)
	fmt.Fprintf(w, "%d of %d requests failed:", s.Failed, s.Failed+s.Completed)
	for _, class := range metrics.Classes {
		if s.Classes[class] > 0 {
			fmt.Fprintf(w, " %d %s", s.Classes[class], class)
		}
	}
	fmt.Fprintf(w, "; most often (%s): %s\n", count(n, "time"), message)
}

// count is n of a noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// mostFrequent is the message that occurs most, the first by name of several.
func mostFrequent(errors map[string]int) (message string, n int) {
	for m, k := range errors {
		if k > n || k == n && m < message {
			message, n = m, k
		}
	}
	return message, n
}
