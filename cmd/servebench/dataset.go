package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
)

func newDatasetCommand() *cobra.Command {
	return loadCommand(&cobra.Command{
		Use:   "dataset [flags]",
		Short: "Print what a run would send, without sending it",
		Long: `Print the requests that servebench run with the same flags would send, as JSON
lines: id, prompt, prompt_len, output_len, token_ids where they are known, and
due, the seconds from the start of the run at which the request is sent.

It needs no server, and so cannot ask one for its model or its tokenizer: give
--tokenizer or --model. The same flags print the same bytes. servebench run
--dataset-name file sends them. With --shard it prints what that shard sends.`,
		Example: `  # 100 random prompts of 512 made-up words
  servebench dataset --tokenizer stub-32000 \
      --num-prompts 100 --random-input-len 512 > prompts.jsonl

  # The lengths of a recorded dataset
  servebench dataset --tokenizer stub-32000 --stats \
      --dataset-name sharegpt --dataset-path sharegpt.json`,
	}, printDataset, []string{
		"model", "tokenizer", "request-rate", "burstiness", "duration", "dataset-name", "dataset-path", "num-prompts", "seed",
		"random-input-len", "random-output-len", "random-range-ratio", "random-prefix-len", "prompt-token-ids", "stats", "shard", "config",
	})
}

func printDataset(ctx context.Context, asked *options) error {
	switch {
	case asked.Targets != nil:
		return errors.New("argument --target: it belongs to servebench run")
	case asked.Shard.Several() && asked.Stats:
		return errors.New("argument --shard: --stats are of the whole dataset: leave one of the two away")
	case asked.Endless():
		return errors.New("argument --duration: at an infinite rate the server decides how many requests are sent: give --num-prompts")
	}
	plan := asked.plan()
	// The ids of a run begin differently each time; printed ids are always the same.
	plan.Workload.RequestIDPrefix = cmp.Or(plan.Workload.RequestIDPrefix, fmt.Sprintf("bench-%08x-", plan.Workload.Seed))
	if asked.Stats {
		source, err := plan.Dataset(ctx, remarks{w: os.Stderr})
		if err != nil {
			return err
		}
		return dataset.WriteStats(os.Stdout, source)
	}
	requests, err := plan.Requests(ctx, remarks{w: os.Stderr})
	if err != nil {
		return err
	}
	return printRequests(ctx, requests)
}

// printRequests prints each request with its due time.
func printRequests(ctx context.Context, requests dataset.Source) error {
	out := bufio.NewWriter(os.Stdout)
	for c, err := range requests {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if err := dataset.WriteLine(out, c, *c.Due); err != nil {
			return fmt.Errorf("writing the dataset: %w", err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the dataset: %w", err)
	}
	return nil
}

// remarks prints messages about a dataset while it is opened.
type remarks struct {
	loadgen.Quiet
	w io.Writer
}

// Remark prints a line.
func (r remarks) Remark(_, text string) { fmt.Fprintln(r.w, text) }
