package loadgen

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset/kinds"
)

// prepare finds the model, the tokenizer and the dataset. It sends nothing that counts.
func (t *target) prepare(ctx context.Context) error {
	sized, err := t.Sized()
	if err != nil {
		return err
	}
	t.Plan = sized
	t.config = t.Config()
	if err := t.connect(); err != nil {
		return err
	}
	if err := t.findModel(ctx); err != nil {
		return err
	}
	if err := t.findAdapters(ctx); err != nil {
		return err
	}
	if err := t.unlessStopped(ctx, t.openWorkload); err != nil {
		return err
	}
	if t.Server.Handler == nil {
		if err := t.transport.CheckSockets(t.atOnce()); err != nil {
			return err // before what may take long
		}
	}
	t.setEncoder()
	if err := t.unlessStopped(ctx, t.align); err != nil {
		return err
	}
	t.event(Event{Kind: Prepared})
	return nil
}

func (t *target) openWorkload(ctx context.Context) error {
	from := tokenizerSource{t.config.Model, t.served, t.server, t.say}
	w, err := openWorkload(ctx, t.Plan, from)
	if err != nil {
		return err
	}
	t.take(w)
	if t.n < t.Shard.Of {
		return fmt.Errorf("argument --num-prompts: there are %s for %d shards: each needs one",
			count(t.n, t.Workload.noun()), t.Shard.Of)
	}
	t.config.Tokenizer = t.tokenizerName
	if err := t.fitting(); err != nil {
		return err
	}
	t.openWarmUp(from)
	return nil
}

// fitting looks for a turn of a file that the API cannot take. Prompts that are made are alike, so the
// first of them, which is encoded before the load, speaks for all.
func (t *target) fitting() error {
	api := t.Server.API()
	if !api.Picky() || t.Workload.Source != nil || t.Workload.Has(kinds.Fileless) || t.Endless() {
		return nil
	}
	seen := 0
	for c, err := range t.source {
		if err != nil {
			return fmt.Errorf("dataset %s: %w", t.Workload.Dataset, err)
		}
		for i := range c.Turns {
			if err := api.Fits(&c.Turns[i]); err != nil {
				return fmt.Errorf("dataset %s: %s %d: %w", t.Workload.Dataset, t.Workload.noun(), seen+1, err)
			}
		}
		seen++
	}
	return nil
}

// take takes the plan of an opened workload.
func (t *target) take(w *workload) {
	t.workload = w
	if w.plan != t.Plan {
		model := t.config.Model
		t.Plan = w.plan
		t.config = t.Config()
		t.config.Model = model
	}
}

// unlessStopped runs a part of the preparation that may be long and cannot be canceled, such as
// counting the tokens of a dataset. If ctx ends, it returns; the goroutine ends later and its
// result is dropped.
func (t *target) unlessStopped(ctx context.Context, prepare func(context.Context) error) error {
	gate := &gate{Observer: t.observer}
	t.observer = gate
	done := make(chan error, 1)
	go func() { done <- prepare(ctx) }()
	slow := time.NewTimer(2 * time.Second)
	defer slow.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			gate.shut()
			return ctx.Err()
		case <-slow.C:
			t.say("preparing the %s dataset...", t.Workload.Dataset)
		}
	}
}

func newRunID() string { return randomHex(8) }

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	t := make([]byte, n)
	rand.Read(t)
	return hex.EncodeToString(t)
}
