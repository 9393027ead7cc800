package loadgen

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// rehearse is the third stage of a load test: it sends what comes before the clock starts.
type rehearse struct{ *prepared }

// run sends the first request once if the ready check is on, then the warm-up requests. All are copies of the
// first request, as with vLLM's client. It returns how the server woke up; nil if it was not put to sleep.
func (r rehearse) run(ctx context.Context) (woke *metrics.Wake, err error) {
	traffic, shard := &r.plan.Traffic, &r.plan.Shard
	if r.plan.Workload.Source != nil && traffic.ReadyCheck <= 0 && traffic.Warmups <= 0 && traffic.SleepFirst == 0 {
		return nil, ctx.Err() // do not read the caller's Source twice without need
	}
	first, err := r.firstRequest()
	if err != nil {
		return nil, err
	}
	r.event(Event{Kind: Rehearsing})
	if traffic.ReadyCheck > 0 {
		if err := r.checkReady(ctx, first); err != nil {
			return nil, err
		}
	}
	if traffic.SleepFirst > 0 && shard.Index == 0 {
		if woke, err = r.measureWake(ctx, first); err != nil {
			return nil, interrupted(ctx, &FailedError{fmt.Errorf("%s %d: %w%s", r.plan.Program.Spell(naming.SleepFirst),
				traffic.SleepFirst, err, sleepAdvice(err))})
		}
	}
	if n := shard.Share(traffic.Warmups); n > 0 {
		r.event(Event{Kind: WarmingUp, Count: n})
		r.warmUps(ctx, first, n)
		r.event(Event{Kind: WarmedUp})
	}
	return woke, ctx.Err()
}

// firstRequest is the dataset's first request, without an id.
func (r rehearse) firstRequest() (*engine.Request, error) {
	c, err := r.first()
	if err != nil {
		return nil, err
	}
	nameless := *c
	nameless.ID, nameless.Adapter = "", ""
	return r.to.Encode(&nameless, 0, nil)
}

// readyInterval is how long vLLM's client waits between two tries.
const readyInterval = 5 * time.Second

// checkReady sends the first request until the server answers it.
func (r rehearse) checkReady(ctx context.Context, first *engine.Request) error {
	limited, cancel := context.WithTimeout(ctx, r.plan.Traffic.ReadyCheck)
	defer cancel()
	last, refused := "it did not answer", false
	for {
		rec := r.once(limited, first)
		switch {
		case rec.Result.Class == record.OK:
			r.event(Event{Kind: Ready})
			return nil
		case rec.Result.Class != record.Cancelled:
			last, refused = rec.Result.Error, rec.Result.Class == record.Status
		}
		if engine.Sleep(limited, time.Now().Add(readyInterval)) != nil {
			if refused {
				last += r.server.unlisted(ctx)
			}
			return &FailedError{fmt.Errorf("%s%s was not ready within %s: %s", r.plan.Server.BaseURL, r.plan.Server.Endpoint,
				r.plan.Traffic.ReadyCheck, last)}
		}
	}
}

// warmUps sends n warm-up requests, as many at once as the load may have. It ignores their results.
func (r rehearse) warmUps(ctx context.Context, first *engine.Request, n int) {
	source := func(yield func(*dataset.Conversation, error) bool) {
		for range n {
			if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, 1)}, nil) {
				return
			}
		}
	}
	to := r.to
	to.Encode = func(*dataset.Conversation, int, []json.RawMessage) (*engine.Request, error) {
		return new(*first), nil // a load changes its requests
	}
	live := new(engine.Live)
	defer r.watchSilence(muteLoad(live))()
	load := engine.Load{Target: to, Source: source, Concurrency: r.concurrency(), Live: live}
	run := engine.Run{Loads: []engine.Load{load}}
	if r.plan.Server.Handler != nil {
		run.Wait = engine.Sleep
	}
	for range run.Records(ctx) {
	}
}
