package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// wakeInterval is how often a server that wakes up is asked whether it still sleeps.
const wakeInterval = 10 * time.Millisecond

// wakeLimit bounds the call that wakes up a server after a nap that failed.
const wakeLimit = time.Minute

// measureWake puts the server to sleep, wakes it up and sends the first request, and returns how long that took.
// It leaves no server asleep.
func (r rehearse) measureWake(ctx context.Context, first *engine.Request) (woke *metrics.Wake, failed error) {
	server := r.server.calls.With(r.server.transport, r.plan.Limits.Total) // weights take long
	level := r.plan.Traffic.SleepFirst
	woke = &metrics.Wake{Level: level}
	known, err := server.CanSleep(ctx)
	if err != nil {
		return nil, err
	}
	woke.Unproven = !known
	began := time.Now()
	if err := server.Sleep(ctx, level); err != nil && ctx.Err() == nil {
		return nil, err
	}
	defer func() {
		if failed != nil {
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeLimit)
			defer cancel()
			server.WakeUp(limited, level) // the first error counts
		}
	}()
	woke.Sleep = time.Since(began)
	if asleep, err := server.IsSleeping(ctx); err != nil || !asleep {
		return nil, cmp.Or(err, errors.New("the server says that it does not sleep: start it with --enable-sleep-mode"))
	}
	began = time.Now()
	if err := server.WakeUp(ctx, level); err != nil {
		return nil, err
	}
	for {
		asleep, err := server.IsSleeping(ctx)
		if err != nil {
			return nil, err
		}
		if !asleep {
			break
		}
		if err := engine.Sleep(ctx, time.Now().Add(wakeInterval)); err != nil {
			return nil, err
		}
	}
	woke.Ready = time.Since(began)
	sent := time.Since(began)
	rec := r.once(ctx, first)
	if rec.Result.Class != record.OK {
		return nil, fmt.Errorf("the first request after the wake failed: %s", r.plan.Server.Secrets.Mask(rec.Result.Error))
	}
	woke.FirstToken = sent + rec.TTFT()
	if rec.Answer.Unstreamed {
		woke.FirstToken = sent + rec.E2EL()
	}
	r.say("slept at level %d; awake %.3f s after the call, first token after %.3f s", level, woke.Ready.Seconds(),
		woke.FirstToken.Seconds())
	return woke, nil
}

// sleepAdvice says what to do if a server has no sleep mode.
func sleepAdvice(err error) string {
	if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
		return ": start vLLM with VLLM_SERVER_DEV_MODE=1 in its environment, and with --enable-sleep-mode"
	}
	return ""
}
