package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/servebench/servebench/loadgen"
	"github.com/spf13/cobra"
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
	if o.Stats {
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
	return maskError(o.Server.Secrets, e.run(ctx))
}

// maskError hides the secrets in what an error says, and keeps its exit code.
func maskError(s loadgen.Secrets, err error) error {
	if err == nil {
		return nil
	}
	masked := errors.New(s.Mask(err.Error()))
	if exit, ok := errors.AsType[exitError](err); ok {
		return exitError{masked, exit.code}
	}
	return masked
}

// tellPart says that what follows is not the whole run.
func tellPart(talk io.Writer, s *loadgen.Shard) {
	if s.Several() {
		fmt.Fprintf(talk, "what follows is the part of shard %d of %d alone: servebench report over the streams (-o) of all shards has the whole\n", s.Index, s.Of)
	}
}

// count is n of a noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
