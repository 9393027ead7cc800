package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/progress"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/spf13/cobra"
)

func newRunCommand() *cobra.Command {
	return loadCommand(&cobra.Command{
		Use:   "run [flags]",
		Short: "Run one load test and print its result block",
		Long: `Run one load test and print its result block, with the flags and in the words of
"vllm bench serve". That program's output goes to stdout, all else to stderr.

After the block comes a verdict on the numbers: VALID, SUSPECT with its main
reasons, or OVERLOADED if the server did not keep up with the request rate.
--extended prints the other reasons and the additional metrics too.

With several targets tables come first: what the targets did to each other.

Ctrl-C stops sending, waits up to --drain-timeout for the requests in flight and
reports what was done; a second Ctrl-C quits at once.

Exit code 0: done. 1: every request failed, or a file could not be written.
2: misuse. 3: SUSPECT or OVERLOADED, with --strict. 130: interrupted.`,
		Example: `  # 200 requests at 5 per second
  servebench run --base-url http://127.0.0.1:8000 \
      --num-prompts 200 --request-rate 5

  # Chat, 16 requests in flight for a minute, with limits for a good request
  servebench run --base-url http://127.0.0.1:8000 \
      --backend openai-chat --endpoint /v1/chat/completions \
      --max-concurrency 16 --duration 60s --goodput ttft:500 tpot:50

  # Prompts from a file, and an HTML page about the run
  servebench run --base-url http://127.0.0.1:8000 \
      --dataset-name sharegpt --dataset-path sharegpt.json \
      --num-prompts 100 -o run.jsonl
  servebench report --html run.html run.jsonl`,
	}, run, runCommon)
}

// runCommon are the common flags, which the short help of run shows.
var runCommon = []string{
	"backend", "base-url", "endpoint", "header", "model", "tokenizer",
	"request-rate", "max-concurrency", "duration", "ready-check-timeout-sec", "num-warmups",
	"dataset-name", "dataset-path", "num-prompts", "seed", "random-input-len", "random-output-len",
	"temperature", "ignore-eos", "extra-body", "target", "server-metrics",
	"metric-percentiles", "goodput", "save-result", "record-to", "plot-timeline", "extended", "strict", "config",
}

func run(ctx context.Context, o *options) error {
	if o.Stats {
		return errors.New("argument --stats: it belongs to servebench dataset")
	}
	if o.Simulate != "" {
		return errors.New("argument --simulate: it belongs to servebench dataset")
	}
	if o.Plan.Repeat > 1 && o.Results.Filename != "" && !o.Results.Append {
		return fmt.Errorf("argument --solo-first: it makes %d repeats, of which each would write over the file of "+
			"--result-filename: take --append-result, or --repeat 1", o.Plan.Repeat)
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
	talk := progress.NewTalk(os.Stderr)
	e := newExperiment(o, shown(os.Stdout), talk)
	if o.Results.Stream == "-" {
		e.out = talk
	}
	if !o.Results.NoProgress {
		e.screen = talk
	}
	return maskError(o.Plan.Server.Secrets, e.run(ctx))
}

// maskError hides the secrets in the text of an error, and keeps its exit code.
func maskError(s redact.Secrets, err error) error {
	if err == nil {
		return nil
	}
	masked := errors.New(s.Mask(err.Error()))
	if exit, ok := errors.AsType[exitError](err); ok {
		return exitError{masked, exit.code}
	}
	return masked
}

// tellPart says that the following output is only a part of the run.
func tellPart(talk io.Writer, s *loadgen.Shard) {
	if s.Several() {
		fmt.Fprintf(talk, "what follows is the part of shard %d of %d alone: servebench report over the streams (-o) of "+
			"all shards has the whole\n", s.Index, s.Of)
	}
}

// count formats n with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
