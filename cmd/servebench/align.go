package main

import (
	"context"
	"fmt"

	"github.com/servebench/servebench/dataset"
)

// align cuts the prompts of the datasets of random tokens to length by the server's
// tokenizer, where that is another than ours, as vLLM's client does. Prompts are
// held in memory only if they have to be changed.
func (b *bench) align(ctx context.Context) error {
	aligned := b.Workload.Dataset == "random" || b.Workload.Dataset == "prefix_repetition"
	if !aligned || b.ids || b.tokenizer == nil || b.remote != nil {
		return nil
	}
	first, err := b.first()
	if err != nil {
		return err
	}
	ids, err := b.server.Tokenize(ctx, b.served, first.Turns[0].Prompt, false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		fmt.Fprintln(b.out, "WARNING: /tokenize unavailable, skipping alignment.")
		return nil
	}
	if len(ids) == first.Turns[0].PromptLen {
		return nil
	}
	if b.endless() {
		b.say("WARNING: the server has %d tokens in a prompt of %d: how many prompts --duration takes is not known, so they are not cut to length: "+
			"give the model's --tokenizer", len(ids), first.Turns[0].PromptLen)
		return nil
	}
	fmt.Fprintf(b.out, "WARNING: tokenizer mismatch (server=%d, expected=%d), re-aligning prompts.\n", len(ids), first.Turns[0].PromptLen)
	var all []*dataset.Conversation
	var turns []*dataset.Turn
	for c, err := range b.source {
		if err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		all, turns = append(all, c), append(turns, &c.Turns[0])
	}
	if err := b.server.Align(ctx, b.served, turns); err != nil {
		return fmt.Errorf("aligning prompts: %w", err)
	}
	b.source = func(yield func(*dataset.Conversation, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
	return nil
}

// first is the first conversation of the dataset.
func (b *bench) first() (*dataset.Conversation, error) {
	for c, err := range b.source {
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", b.Workload.Dataset, err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("dataset %s: there is nothing to send", b.Workload.Dataset)
}
