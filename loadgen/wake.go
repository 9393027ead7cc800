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

// measureWake puts the server to sleep, wakes it up and sends the first request, and notes how long that took.
// It leaves no server asleep.
func (t *target) measureWake(ctx context.Context, first *engine.Request) (failed error) {
	server := t.server.With(t.server.Transport, t.Limits.Total) // weights take long
	woke := &metrics.Wake{Level: t.Traffic.SleepFirst}
	known, err := server.CanSleep(ctx)
	if err != nil {
		return err
	}
	woke.Unproven = !known
	began := time.Now()
	if err := server.Sleep(ctx, woke.Level); err != nil && ctx.Err() == nil {
		return err
	}
	defer func() {
		if failed != nil {
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeLimit)
			defer cancel()
			server.WakeUp(limited, woke.Level) // the first error counts
		}
	}()
	woke.Sleep = time.Since(began)
	if asleep, err := server.IsSleeping(ctx); err != nil || !asleep {
		return cmp.Or(err, errors.New("the server says that it does not sleep: start it with --enable-sleep-mode"))
	}
	began = time.Now()
	if err := server.WakeUp(ctx, woke.Level); err != nil {
		return err
	}
	for {
		asleep, err := server.IsSleeping(ctx)
		if err != nil {
			return err
		}
		if !asleep {
			break
		}
		if err := engine.Sleep(ctx, time.Now().Add(wakeInterval)); err != nil {
			return err
		}
	}
	woke.Ready = time.Since(began)
	sent := time.Since(began)
	rec := t.once(ctx, first)
	if rec.Result.Class != record.OK {
		return fmt.Errorf("the first request after the wake failed: %s", t.Server.Secrets.Mask(rec.Result.Error))
	}
	woke.FirstToken = sent + rec.TTFT()
	if rec.Answer.Unstreamed {
		woke.FirstToken = sent + rec.E2EL()
	}
	t.woke = woke
	t.say("slept at level %d; awake %.3f s after the call, first token after %.3f s", woke.Level, woke.Ready.Seconds(),
		woke.FirstToken.Seconds())
	return nil
}

// sleepAdvice says what to do if a server has no sleep mode.
func sleepAdvice(err error) string {
	if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
		return ": start vLLM with VLLM_SERVER_DEV_MODE=1 in its environment, and with --enable-sleep-mode"
	}
	return ""
}
