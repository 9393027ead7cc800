package loadgen

import (
	"context"
	"fmt"

	"github.com/servebench/servebench/dataset"
)

// align cuts the prompts of the datasets of random tokens to length by the server's
// tokenizer, where that is another than ours, as vLLM's client does. Prompts are
// held in memory only if they have to be changed. The server is asked for the model
// by the name of --model, as that client asks it, whatever its name in requests is.
func (t *target) align(ctx context.Context) error {
	aligned := t.Workload.Dataset == "random" || t.Workload.Dataset == "prefix_repetition"
	if !aligned || t.ids || t.tokenizer == nil || t.remote != nil {
		return nil
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	ids, err := t.server.Tokenize(ctx, t.config.Model, first.Turns[0].Prompt, false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		t.step(Step{Kind: NotAligned, Model: t.config.Model, Err: err})
		return nil
	}
	if len(ids) == first.Turns[0].PromptLen {
		return nil
	}
	if t.Endless() {
		t.say("WARNING: the server has %d tokens in a prompt of %d: how many prompts --duration takes is not known, so they are not cut to length: "+
			"give the model's --tokenizer", len(ids), first.Turns[0].PromptLen)
		return nil
	}
	t.step(Step{Kind: Aligning, Count: len(ids), Want: first.Turns[0].PromptLen})
	var all []*dataset.Conversation
	var turns []*dataset.Turn
	for c, err := range t.source {
		if err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		all, turns = append(all, c), append(turns, &c.Turns[0])
	}
	if err := t.server.Align(ctx, t.config.Model, turns); err != nil {
		return fmt.Errorf("aligning prompts: %w", err)
	}
	t.source = func(yield func(*dataset.Conversation, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
	return nil
}

// first is the first conversation of the dataset.
func (t *target) first() (*dataset.Conversation, error) {
	for c, err := range t.source {
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", t.Workload.Dataset, err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("dataset %s: there is nothing to send", t.Workload.Dataset)
}
