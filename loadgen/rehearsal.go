package loadgen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics"
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
	t.step(Step{Kind: Rehearsing})
	if t.Traffic.ReadyCheck > 0 {
		if err := t.checkReady(ctx, first); err != nil {
			return err
		}
	}
	if t.Traffic.SleepFirst > 0 && t.Shard.Index == 0 {
		if err := t.nap(ctx, first); err != nil {
			return interrupted(ctx, &FailedError{fmt.Errorf("--sleep-first %d: %w%s", t.Traffic.SleepFirst, err, sleepAdvice(err))})
		}
	}
	if n := t.Shard.Share(t.Traffic.Warmups); n > 0 {
		t.step(Step{Kind: WarmingUp, Count: n})
		t.warmUps(ctx, first, n)
		t.step(Step{Kind: WarmedUp})
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
		case rec.Class == metrics.OK:
			t.step(Step{Kind: Ready})
			return nil
		case rec.Class != metrics.Cancelled:
			last, refused = rec.Error, rec.Class == metrics.Status
		}
		if engine.Sleep(limited, time.Now().Add(readyInterval)) != nil {
			if refused {
				last += t.unlisted(ctx)
			}
			return &FailedError{fmt.Errorf("%s%s was not ready within %s: %s", t.Server.BaseURL, t.Server.Endpoint, t.Traffic.ReadyCheck, last)}
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

// wakeInterval is how often a server that wakes up is asked whether it still sleeps.
const wakeInterval = 10 * time.Millisecond

// wakeLimit bounds the call that wakes up a server after a nap that failed.
const wakeLimit = time.Minute

// nap puts the server to sleep, wakes it up and sends the first request, and notes how long that took.
// It leaves no server asleep.
func (t *target) nap(ctx context.Context, first *engine.Request) (failed error) {
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
	if rec.Class != metrics.OK {
		return fmt.Errorf("the first request after the wake failed: %s", t.Server.Secrets.Mask(rec.Error))
	}
	woke.FirstToken = sent + rec.TTFT()
	if rec.Whole {
		woke.FirstToken = sent + rec.E2EL()
	}
	t.woke = woke
	t.say("slept at level %d; awake %.3f s after the call, first token after %.3f s", woke.Level, woke.Ready.Seconds(), woke.FirstToken.Seconds())
	return nil
}

// sleepAdvice says what to do if a server has no sleep mode.
func sleepAdvice(err error) string {
	if f, ok := errors.AsType[*metrics.Failure](err); ok && f.Class == metrics.Status {
		return ": start vLLM with VLLM_SERVER_DEV_MODE=1 in its environment, and with --enable-sleep-mode"
	}
	return ""
}

// findAdapters checks that the server has the plan's adapters. Some servers load an adapter when it
// is asked for, and do not list it before: such an adapter gets the shortest request.
func (t *target) findAdapters(ctx context.Context) error {
	names := metrics.Distinct(t.Workload.Adapters.Names)
	if len(names) == 0 {
		return nil
	}
	var models []openai.Model
	err := t.reach(ctx, func() (err error) { models, err = t.server.Models(ctx); return err })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case IsDown(err):
		return &FailedError{&UnreachableError{t.Target, err}}
	case err != nil:
		t.say("WARNING: --lora-modules is not checked: the server does not say what it has: %v", err)
		return nil
	}
	var missing []openai.Model
	why := ""
	for _, name := range names {
		if slices.ContainsFunc(models, func(m openai.Model) bool { return m.ID == name }) {
			continue
		}
		if err := t.askAdapter(ctx, name); err != nil {
			missing, why = append(missing, openai.Model{ID: name}), cmp.Or(why, err.Error())
		}
	}
	if len(missing) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	return &FailedError{fmt.Errorf("argument --lora-modules: %s does not have %s: it lists %s, and answers: %s",
		t.Server.BaseURL, someOf(missing), cmp.Or(someOf(models), "nothing"), why)}
}

// adapterLimit is how long a server may take to load an adapter that it does not list.
const adapterLimit = time.Minute

// askAdapter sends the shortest request to an adapter. It fails if the server refuses it, and only warns
// if the API has no such request.
func (t *target) askAdapter(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, adapterLimit)
	defer cancel()
	turn := shortest()
	body, err := t.asker(name).encode(&turn, "")
	if err != nil { // the API has no short request, as one for a transcription needs a file
		t.say("WARNING: the server does not list the adapter %s", name)
		return nil
	}
	rec := t.to.Once(ctx, &engine.Request{Body: body, NoText: true})
	if rec.Status == http.StatusOK {
		t.say("the server does not list the adapter %s, and answers for it", name)
		return nil
	}
	return errors.New(cmp.Or(rec.Error, "no answer within "+adapterLimit.String()))
}

// startProfiler asks the server to profile the load, if the plan asks for it; only the first of
// several shards does so. If the server cannot, the run goes on with a warning. As vLLM's client, it is
// asked to stop in any case.
func (t *target) startProfiler(ctx context.Context) {
	if !t.Traffic.Profile || t.Shard.Index > 0 {
		return
	}
	t.step(Step{Kind: StartingProfiler})
	t.profiling = true
	if err := t.server.StartProfile(ctx); err != nil {
		t.say("WARNING: %s; the run goes on without a profile%s", t.Server.Secrets.Mask(err.Error()), profilerAdvice(err))
		return
	}
	t.profiled = true
	t.step(Step{Kind: StartedProfiler})
}

// stopProfiler asks the server to write its profile, which may take long. It also does so for an
// interrupted run.
func (t *target) stopProfiler(ctx context.Context) {
	if !t.profiling {
		return
	}
	t.profiling = false
	t.step(Step{Kind: StoppingProfiler})
	patient := t.server.With(t.server.Transport, t.Limits.Total)
	if err := patient.StopProfile(context.WithoutCancel(ctx)); err != nil {
		if t.profiled { // else it has been reported
			t.say("WARNING: %s: the server may have no profile", t.Server.Secrets.Mask(err.Error()))
		}
		return
	}
	t.step(Step{Kind: StoppedProfiler})
}

// profilerAdvice says what to do if a server has no profiler.
func profilerAdvice(err error) string {
	if f, ok := errors.AsType[*metrics.Failure](err); ok && f.Class == metrics.Status {
		return ": start vLLM with VLLM_TORCH_PROFILER_DIR set or, where it is newer, with --profiler-config"
	}
	return ""
}

// align cuts the prompts of random datasets to length with the server's tokenizer, if the server
// has a different one, as vLLM's client does. It holds prompts in memory only if it changes them.
// Like that client, it asks for the model by the name of --model, whatever the model's name in
// requests is.
func (t *target) align(ctx context.Context) error {
	aligned := t.Workload.Dataset == "random" && !t.Workload.Sessions.MultiTurn || t.Workload.Dataset == "prefix_repetition"
	if !aligned || t.ids || t.tokenizer == nil || t.remote != nil {
		return nil
	}
	first, err := t.first()
	if err != nil {
		return err
	}
	if first.Turns[0].Payload != nil { // vLLM's client aligns no batches
		return nil
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
		t.say("WARNING: the server has %d tokens in a prompt of %d: with --duration, the number of prompts is unknown, so they are not cut to length: "+
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
