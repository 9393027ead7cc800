package loadgen

import (
	"context"
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/naming"
)

// align cuts the prompts of random datasets to length with the server's tokenizer, if the server
// has a different one, as vLLM's client does. It holds prompts in memory only if it changes them.
// Like that client, it asks for the model by the name that the plan gives, whatever the model's name in
// requests is.
func (t *prepared) align(ctx context.Context, v voice) error {
	w := t.workload
	aligned := t.plan.Workload.Has(kinds.Fitted) && !t.plan.Workload.Settings.MultiTurn.On
	if !aligned || w.IDs || w.Tokenizer == nil || w.Remote != nil {
		return nil
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	if first.Turns[0].Payload != nil { // vLLM's client aligns no batches
		return nil
	}
	ids, err := t.server.calls.Tokenize(ctx, t.config.Model, first.Turns[0].Prompt, false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		v.event(Event{Kind: NotAligned, Model: t.config.Model, Err: err})
		return nil
	}
	if len(ids) == first.Turns[0].PromptLen {
		return nil
	}
	if t.plan.Traffic.Endless(&t.plan.Workload) {
		v.say("WARNING: the server has %d tokens in a prompt of %d: with %s, the number of prompts is unknown, so they "+
			"are not cut to length: give the model's %s", len(ids), first.Turns[0].PromptLen,
			v.plan.Program.Spell(naming.Duration), v.plan.Program.Spell(naming.Tokenizer))
		return nil
	}
	v.event(Event{Kind: Aligning, Count: len(ids), Want: first.Turns[0].PromptLen})
	var all []*dataset.Conversation
	var turns []*dataset.Turn
	for c, err := range w.Source {
		if err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		all, turns = append(all, c), append(turns, &c.Turns[0])
	}
	if err := t.server.calls.Align(ctx, t.config.Model, turns); err != nil {
		return fmt.Errorf("aligning prompts: %w", err)
	}
	w.Source = func(yield func(*dataset.Conversation, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
	return nil
}
