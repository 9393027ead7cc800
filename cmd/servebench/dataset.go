package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/dataset"
)

func newDatasetCommand() *cobra.Command {
	return loadCommand(&cobra.Command{
		Use:   "dataset [flags]",
		Short: "Print what a run would send, and when, without sending it",
		Long: `Dataset takes the flags of run and prints the requests of that run as JSON
lines: id, prompt, prompt_len, output_len, token_ids where they are known, and
due, the seconds from the start of the run at which the request is sent.
It needs no server, so it cannot ask one for its model: where no --tokenizer is
given, --model names it. The same flags print the same bytes; run --dataset-name
file sends them. With --shard it prints what that shard sends.`,
	}, printDataset)
}

func printDataset(ctx context.Context, asked *options) error {
	switch {
	case asked.Targets != nil:
		return errors.New("argument --target: it belongs to servebench run")
	case asked.Shard.Several() && asked.Workload.Stats:
		return errors.New("argument --shard: --stats are of the whole dataset: leave one of the two away")
	case asked.endless():
		return errors.New("argument --duration: at an infinite rate the server decides how many requests are sent: give --num-prompts")
	}
	sized, err := asked.sized()
	if err != nil {
		return err
	}
	fixed := *sized
	o := &fixed
	// A run's ids begin differently each time; what is printed is always the same.
	o.Workload.RequestIDPrefix = cmp.Or(o.Workload.RequestIDPrefix, fmt.Sprintf("bench-%08x-", o.Workload.Seed))
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	b := bench{options: o, config: o.config(), out: os.Stdout, talk: os.Stderr}
	from := tokenizerSource{model: o.Server.Model, served: cmp.Or(o.Server.ServedName, o.Server.Model), say: say}
	if o.Server.Tokenizer == serverTokenizer {
		if err := b.connect(); err != nil {
			return err
		}
		from.server = b.server
	}
	w, err := openWorkload(ctx, o, from)
	if err != nil {
		return err
	}
	if o.Workload.Stats {
		return dataset.WriteStats(os.Stdout, w.source)
	}
	b.workload = w
	return b.printRequests(ctx)
}

// printRequests prints each request of the workload, or of its shard, with its due
// time.
func (b *bench) printRequests(ctx context.Context) error {
	due := func() (float64, bool) { return 0, true }
	if !b.config.SelfTimed {
		offsets, err := b.arrivals().Offsets(b.n)
		if err != nil {
			return err
		}
		next, stop := iter.Pull(offsets)
		defer stop()
		due = next
	}
	out := bufio.NewWriter(os.Stdout)
	number := -1
	for c, err := range b.source {
		number++
		if err != nil {
			return errors.Join(fmt.Errorf("dataset %s: %w", b.Workload.Dataset, err), out.Flush())
		}
		at, ok := due()
		if c.Due != nil {
			at, ok = *c.Due, true
		}
		if !ok || b.Traffic.Duration > 0 && at >= b.Traffic.Duration.Seconds() {
			break
		}
		if !b.Shard.Has(number) {
			continue
		}
		if err := dataset.WriteLine(out, c, at); err != nil {
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
