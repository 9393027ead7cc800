package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/replay"
	"github.com/servebench/servebench/dataset/retime"
	"github.com/servebench/servebench/dataset/reuse"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
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
		"random-input-len", "random-output-len", "random-range-ratio", "random-prefix-len", "prompt-token-ids", "stats",
		"shard", "config",
	})
}

func printDataset(ctx context.Context, asked *options) error {
	switch {
	case asked.Targets != nil:
		return errors.New("argument --target: it belongs to servebench run")
	case asked.Plan.Shard.Several() && (asked.Stats || asked.Simulate != ""):
		return errors.New("argument --shard: --stats and --simulate are about the whole dataset: leave one of the two out")
	case asked.Plan.Traffic.Endless(&asked.Plan.Workload):
		return errors.New("argument --duration: at an infinite rate the server decides how many requests are sent: give " +
			"--num-prompts")
	}
	for _, note := range asked.Notes {
		fmt.Fprintln(os.Stderr, note)
	}
	plan := asked.plan()
	// The ids of a run begin differently each time; printed ids are always the same.
	plan.Workload.RequestIDPrefix = cmp.Or(plan.Workload.RequestIDPrefix, fmt.Sprintf("bench-%08x-", plan.Workload.Seed))
	if asked.Stats || asked.Simulate != "" {
		return describeDataset(ctx, plan, asked)
	}
	requests, err := plan.Requests(ctx, remarks{w: os.Stderr})
	if err != nil {
		return err
	}
	return printRequests(ctx, requests)
}

// describeDataset prints the numbers of a dataset, and of a dry run if one is asked for.
func describeDataset(ctx context.Context, plan *loadgen.Plan, asked *options) error {
	source, err := plan.Dataset(ctx, remarks{w: os.Stderr})
	if err != nil {
		return err
	}
	if asked.Stats {
		if plan.Workload.Has(kinds.SeveralTurns) || plan.Workload.Settings.MultiTurn.On {
			err = reuse.WriteStats(os.Stdout, source, plan.Traffic.Absolute)
		} else {
			err = dataset.WriteStats(os.Stdout, source)
		}
	}
	if err != nil || asked.Simulate == "" {
		return err
	}
	if source, err = plan.Requests(ctx, remarks{w: io.Discard}); err != nil {
		return err
	}
	return simulate(plan, asked.Simulate, source)
}

// simulate prints how a server with a profile copes with requests, in time that does not pass.
func simulate(plan *loadgen.Plan, name string, requests dataset.Source) error {
	profile, err := speed.Open(name)
	if err != nil {
		return fmt.Errorf("argument --simulate: %w", err)
	}
	t, bounds := &plan.Traffic, sim.Bounds{Absolute: plan.Traffic.Absolute, Live: plan.Workload.Live()}
	if t.MaxSessions != nil {
		bounds.Sessions = *t.MaxSessions
	}
	if t.MaxConcurrency != nil {
		bounds.Concurrency = *t.MaxConcurrency
	}
	if plan.Traffic.AtOnce(&plan.Workload) && bounds.Sessions > 0 {
		requests = retime.Untimed(requests)
	}
	cfg := sim.Config{Profile: profile, Cache: sim.Cache{Prefixes: true}}
	var f sim.Forecast
	for _, err := range sim.Dry(cfg, requests, bounds, &f) {
		if err != nil {
			return fmt.Errorf("dry run: %w", err)
		}
	}
	fmt.Printf("dry run on one %s: %s of %s in %s, with a request in progress for %.1f %% of it\n", name,
		count(f.Requests, "request"), count(f.Sessions, "session"),
		f.Length.Round(time.Millisecond), 100*f.Busy)
	fmt.Printf("  found in its prefix cache: %d of %d prompt tokens (%.1f %%)\n", f.Found, f.Prompt,
		100*float64(f.Found)/float64(max(f.Prompt, 1)))
	if f.Refused > 0 {
		fmt.Printf("  too long for the model: %s, after which %s were not sent\n", count(f.Refused, "request"),
			count(f.Unsent, "turn"))
	}
	if f.Needs > 1 { // whose queue may have cost it cache hits
		bounds.Servers = int(math.Ceil(f.Needs))
		if err := sim.Enough(cfg, requests, bounds, &f); err != nil {
			return fmt.Errorf("dry run: %w", err)
		}
	}
	switch {
	case f.Needs >= 10:
		fmt.Printf("  this load needs %.0f of this server\n", f.Needs)
	case f.Needs > 0:
		fmt.Printf("  this load needs %.2g of this server\n", f.Needs)
	}
	return nil
}

// printRequests prints each request with its due time.
func printRequests(ctx context.Context, requests dataset.Source) error {
	out := bufio.NewWriter(os.Stdout)
	for c, err := range requests {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if err := replay.WriteLine(out, c, *c.Due); err != nil {
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
