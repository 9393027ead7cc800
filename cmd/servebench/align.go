package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics"
)

// align cuts the prompts of the datasets of random tokens to length by the server's
// tokenizer, where that is another than ours, as vLLM's client does. Prompts are
// held in memory only if they have to be changed. The server is asked for the model
// by the name of --model, as that client asks it, whatever its name in requests is.
func (b *bench) align(ctx context.Context) error {
	aligned := b.Workload.Dataset == "random" || b.Workload.Dataset == "prefix_repetition"
	if !aligned || b.ids || b.tokenizer == nil || b.remote != nil {
		return nil
	}
	first, err := b.first()
	if err != nil {
		return err
	}
	ids, err := b.server.Tokenize(ctx, b.config.Model, first.Turns[0].Prompt, false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.print(24, 0, "WARNING: %s, skipping alignment.", b.unaligned(err))
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
	b.print(24, 0, "WARNING: tokenizer mismatch (server=%d, expected=%d), re-aligning prompts.", len(ids), first.Turns[0].PromptLen)
	var all []*dataset.Conversation
	var turns []*dataset.Turn
	for c, err := range b.source {
		if err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		all, turns = append(all, c), append(turns, &c.Turns[0])
	}
	if err := b.server.Align(ctx, b.config.Model, turns); err != nil {
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

// unaligned says as vLLM's client does why /tokenize is of no use. Where that shows
// Python's exception it shows the error.
func (b *bench) unaligned(err error) string {
	f, _ := errors.AsType[*metrics.Failure](err)
	switch {
	case !b.Results.VLLMVersion.Since(33, 0):
		return "/tokenize unavailable"
	case isDown(err):
		return fmt.Sprintf("%s unreachable (%v)", b.Server.BaseURL, err)
	case f == nil || f.Class != metrics.Status:
		return fmt.Sprintf("/tokenize probe failed (%v)", err)
	case f.Status == http.StatusNotFound:
		return fmt.Sprintf("/tokenize unavailable (404 Not Found: either this server has no /tokenize route, or it does not serve a model named `%s` "+
			"(its served names are listed by GET /v1/models))", b.config.Model)
	}
	return fmt.Sprintf("/tokenize unavailable (HTTP %d)", f.Status)
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
