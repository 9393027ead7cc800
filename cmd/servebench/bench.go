package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"

	"golang.org/x/term"
)

// A bench is one load test: prepare finds out what will be sent and whether it
// can be, rehearse sends what comes before the clock starts, measure is the
// test itself.
type bench struct {
	*options
	out      io.Writer // what vLLM's client prints
	talk     io.Writer // all else
	results  *results
	patience time.Duration // for a call that is not part of the load

	server *loadgen.Server // for its small calls
	served string          // the model's name in requests
	config metrics.Config
	target loadgen.Target
	*workload
}

// rehearse makes the first request once if the ready check is on, and the
// warm-up requests, all of them copies of the first, as vLLM's client does.
func (b *bench) rehearse(ctx context.Context) error {
	first, err := b.firstRequest()
	if err != nil {
		return err
	}
	fmt.Fprintln(b.out, "Starting initial single prompt test run...")
	if b.Traffic.ReadyCheck <= 0 {
		fmt.Fprintln(b.out, "Skipping endpoint ready check.")
	} else if err := b.checkReady(ctx, first); err != nil {
		return err
	}
	if b.Traffic.Warmups > 0 {
		fmt.Fprintf(b.out, "Warming up with %d requests...\n", b.Traffic.Warmups)
		b.warmUp(ctx, first)
		fmt.Fprintln(b.out, "Warmup run completed.")
	}
	return ctx.Err()
}

// firstRequest is the first of the dataset, without an id.
func (b *bench) firstRequest() (*loadgen.Request, error) {
	c, err := b.first()
	if err != nil {
		return nil, err
	}
	nameless := *c
	nameless.ID = ""
	return b.target.Encode(&nameless, 0)
}

// readyInterval is how long vLLM's client waits between two tries.
const readyInterval = 5 * time.Second

// checkReady sends the first request until it is answered.
func (b *bench) checkReady(ctx context.Context, first *loadgen.Request) error {
	fmt.Fprintf(b.out, "Waiting for endpoint to become up in %.0f seconds\n", b.Traffic.ReadyCheck.Seconds())
	ctx, cancel := context.WithTimeout(ctx, b.Traffic.ReadyCheck)
	defer cancel()
	last := "it did not answer"
	for {
		rec := b.target.Once(ctx, first)
		switch {
		case rec.Class == metrics.OK:
			fmt.Fprintln(b.out, "Initial test run completed.")
			return nil
		case rec.Class != metrics.Cancelled:
			last = rec.Error
		}
		if loadgen.Sleep(ctx, time.Now().Add(readyInterval)) != nil {
			return exitError{fmt.Errorf("%s%s was not ready within %s: %s", b.Server.BaseURL, b.Server.Endpoint, b.Traffic.ReadyCheck, last), exitNo}
		}
	}
}

// warmUp sends the warm-up requests, as many at once as the load may have. What
// comes of them is not looked at.
func (b *bench) warmUp(ctx context.Context, first *loadgen.Request) {
	source := func(yield func(*dataset.Conversation, error) bool) {
		for range b.Traffic.Warmups {
			if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, 1)}, nil) {
				return
			}
		}
	}
	target := b.target
	target.Encode = func(*dataset.Conversation, int) (*loadgen.Request, error) { return first, nil }
	load := loadgen.Load{Target: target, Source: source, Concurrency: b.config.MaxConcurrency}
	run := loadgen.Run{Loads: []loadgen.Load{load}}
	for range run.Records(ctx) {
	}
}

// measure is the load test. Interrupted, it sums up what was done.
func (b *bench) measure(ctx context.Context) (*metrics.Summary, error) {
	schedule, err := b.schedule()
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(b.out, "Starting main benchmark run...")
	b.announceTraffic()

	header := &metrics.Header{Run: runID(), Version: version, Flags: b.Flags, Config: b.config}
	collector := metrics.NewCollector(header)
	collector.KeepOutcomes = b.Results.SaveDetailed
	live := new(loadgen.Live)
	stopProgress := func() {}
	before, counted := b.counters(ctx)
	run := loadgen.Run{
		Header: header,
		Loads:  []loadgen.Load{{Target: b.target, Source: b.source, Schedule: schedule, Concurrency: b.config.MaxConcurrency}},
		Drain:  b.Limits.Drain,
		Live:   live,
		Started: func(epoch time.Time) {
			header.Epoch = epoch
			b.results.begin(header)
			stopProgress = b.showProgress(live)
		},
	}
	unhook := context.AfterFunc(ctx, func() { b.tellDraining(live) })
	defer unhook()
	for rec, err := range run.Records(ctx) {
		if err != nil {
			stopProgress()
			return nil, err
		}
		rec.Error = b.Server.Secrets.mask(rec.Error)
		collector.Add(rec)
		b.results.write(rec)
	}
	if header.Epoch.IsZero() {
		return nil, interrupted(ctx, nil)
	}
	seconds := time.Since(header.Epoch).Seconds()
	stopProgress()

	s := collector.Summary(seconds)
	s.Interrupted = ctx.Err() != nil
	if after, ok := b.counters(context.WithoutCancel(ctx)); ok && counted {
		s.SpecDecode = before.SpecDecode(after)
		s.Diffusion = before.Diffusion(after, seconds)
	}
	s.RateChanges, err = rateChanges(b.arrivals(), b.n, header.Epoch)
	return s, err
}

// counters are the server's totals of speculative and diffusion decoding, if it
// tells them.
func (b *bench) counters(ctx context.Context) (c metrics.Counters, ok bool) {
	text, err := b.server.Metrics(ctx)
	if err == nil {
		c, err = metrics.ParseCounters(strings.NewReader(text))
	}
	return c, err == nil
}

func (b *bench) arrivals() loadgen.Arrivals {
	return loadgen.Arrivals{
		Rate: b.config.RequestRate, Burstiness: b.config.Burstiness,
		RampUp: b.config.RampUp, Seed: b.config.Seed, Start: b.numpy,
	}
}

// schedule is nil where the conversations bring their own times.
func (b *bench) schedule() (loadgen.Schedule, error) {
	if b.config.SelfTimed {
		return nil, nil
	}
	return b.arrivals().Schedule(b.n)
}

// announceTraffic prints what vLLM's client prints of the load.
func (b *bench) announceTraffic() {
	c := &b.config
	if c.SelfTimed {
		fmt.Fprintln(b.out, "Self timing is set, using the timestamps from the trace file.")
		return
	}
	if r := c.RampUp; r != nil {
		fmt.Fprintf(b.out, "Traffic ramp-up strategy: %s.\n", r.Strategy)
		fmt.Fprintf(b.out, "Will increase RPS from %d to %d RPS over the duration of the benchmark.\n", r.Start, r.End)
	} else {
		fmt.Fprintf(b.out, "Traffic request rate: %s\n", metrics.FormatFloat(c.RequestRate))
	}
	distribution := "Gamma distribution"
	if c.Burstiness == 1 {
		distribution = "Poisson process"
	}
	fmt.Fprintf(b.out, "Burstiness factor: %s (%s)\n", metrics.FormatFloat(c.Burstiness), distribution)
	limit := "None"
	if c.MaxConcurrency > 0 {
		limit = fmt.Sprint(c.MaxConcurrency)
	}
	fmt.Fprintf(b.out, "Maximum request concurrency: %s\n", limit)
}

func (b *bench) showProgress(live *loadgen.Live) (stop func()) {
	if b.Results.NoProgress {
		return func() {}
	}
	p := &progress{w: b.talk, tty: b.onTerminal(), total: b.n, live: live}
	return p.show()
}

func (b *bench) onTerminal() bool {
	f, ok := b.talk.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// tellDraining says what the first interrupt has begun.
func (b *bench) tellDraining(live *loadgen.Live) {
	if b.Limits.Drain <= 0 {
		return
	}
	if b.onTerminal() {
		fmt.Fprintln(b.talk) // leaves the line of the progress
	}
	fmt.Fprintf(b.talk, "interrupted: %s in flight may take %s to end; interrupt again to quit at once\n",
		count(int(live.Sent.Load()-live.Ended.Load()), "request"), b.Limits.Drain)
}

func rateChanges(a loadgen.Arrivals, n int, epoch time.Time) ([]metrics.RateChange, error) {
	rises, err := a.RateRises(n)
	var changes []metrics.RateChange
	for _, r := range rises {
		changes = append(changes, metrics.RateChange{RPS: r.RPS, At: epoch.Add(r.Offset)})
	}
	return changes, err
}

// atOnce is how many requests can be in flight together, as far as the flags
// bound it: all of them at an infinite rate.
func (b *bench) atOnce() int {
	switch {
	case b.config.MaxConcurrency > 0:
		return min(b.n, b.config.MaxConcurrency)
	case math.IsInf(b.config.RequestRate, 1) && b.config.RampUp == nil:
		return b.n
	}
	return 0
}
