package loadgen

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// rehearse sends the first request once if the ready check is on, then the warm-up requests. All
// are copies of the first request, as with vLLM's client.
func (t *target) rehearse(ctx context.Context) error {
	if t.Workload.Source != nil && t.Traffic.ReadyCheck <= 0 && t.Traffic.Warmups <= 0 && t.Traffic.SleepFirst == 0 {
		return ctx.Err() // do not read the caller's Source twice without need
	}
	first, err := t.firstRequest()
	if err != nil {
		return err
	}
	t.event(Event{Kind: Rehearsing})
	if t.Traffic.ReadyCheck > 0 {
		if err := t.checkReady(ctx, first); err != nil {
			return err
		}
	}
	if t.Traffic.SleepFirst > 0 && t.Shard.Index == 0 {
		if err := t.measureWake(ctx, first); err != nil {
			return interrupted(ctx, &FailedError{fmt.Errorf("--sleep-first %d: %w%s", t.Traffic.SleepFirst, err,
				sleepAdvice(err))})
		}
	}
	if n := t.Shard.Share(t.Traffic.Warmups); n > 0 {
		t.event(Event{Kind: WarmingUp, Count: n})
		t.warmUps(ctx, first, n)
		t.event(Event{Kind: WarmedUp})
	}
	return ctx.Err()
}

// firstRequest is the dataset's first request, without an id.
func (t *target) firstRequest() (*engine.Request, error) {
	c, err := t.first()
	if err != nil {
		return nil, err
	}
	nameless := *c
	nameless.ID, nameless.Adapter = "", ""
	return t.to.Encode(&nameless, 0, nil)
}

// readyInterval is how long vLLM's client waits between two tries.
const readyInterval = 5 * time.Second

// checkReady sends the first request until the server answers it.
func (t *target) checkReady(ctx context.Context, first *engine.Request) error {
	limited, cancel := context.WithTimeout(ctx, t.Traffic.ReadyCheck)
	defer cancel()
	last, refused := "it did not answer", false
	for {
		rec := t.once(limited, first)
		switch {
		case rec.Result.Class == record.OK:
			t.event(Event{Kind: Ready})
			return nil
		case rec.Result.Class != record.Cancelled:
			last, refused = rec.Result.Error, rec.Result.Class == record.Status
		}
		if engine.Sleep(limited, time.Now().Add(readyInterval)) != nil {
			if refused {
				last += t.unlisted(ctx)
			}
			return &FailedError{fmt.Errorf("%s%s was not ready within %s: %s", t.Server.BaseURL, t.Server.Endpoint,
				t.Traffic.ReadyCheck, last)}
		}
	}
}

// warmUps sends n warm-up requests, as many at once as the load may have. It ignores their results.
func (t *target) warmUps(ctx context.Context, first *engine.Request, n int) {
	source := func(yield func(*dataset.Conversation, error) bool) {
		for range n {
			if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, 1)}, nil) {
				return
			}
		}
	}
	to := t.to
	to.Encode = func(*dataset.Conversation, int, []json.RawMessage) (*engine.Request, error) {
		return new(*first), nil // a load changes its requests
	}
	live := new(engine.Live)
	defer t.watchSilence(muteLoad(live))()
	load := engine.Load{Target: to, Source: source, Concurrency: t.concurrency(), Live: live}
	run := engine.Run{Loads: []engine.Load{load}}
	if t.Server.Handler != nil {
		run.Wait = engine.Sleep
	}
	for range run.Records(ctx) {
	}
}

// first is the dataset's first conversation.
func (t *target) first() (*dataset.Conversation, error) {
	for c, err := range t.source {
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", t.Workload.Dataset, err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("dataset %s: it has no prompts", t.Workload.Dataset)
}
