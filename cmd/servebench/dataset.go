package main

import (
	"bufio"
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
given, --model names it.`,
	}, printDataset)
}

func printDataset(ctx context.Context, o *options) error {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	w, err := openWorkload(o, o.Server.Model, say)
	if err != nil {
		return err
	}
	b := bench{options: o, config: o.config()}
	offsets, err := b.arrivals().Offsets(w.n)
	if err != nil {
		return err
	}
	due, stop := iter.Pull(offsets)
	defer stop()
	out := bufio.NewWriter(os.Stdout)
	for c, err := range w.source {
		if err != nil {
			return errors.Join(fmt.Errorf("dataset %s: %w", o.Workload.Dataset, err), out.Flush())
		}
		at, _ := due()
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
