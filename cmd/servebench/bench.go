package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strings"
	"time"

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
	screen   io.Writer     // where progress is shown; talk unless given

	transport *loadgen.Transport
	tally     *loadgen.Tally  // of what goes through transport
	server    *loadgen.Server // for its small calls
	served    string          // the model's name in requests
	config    metrics.Config
	target    loadgen.Target
	*workload
}

// measure is the load test. Stopped, or cut short by an error, it sums up what was
// done; the summary is nil when nothing was.
func (b *bench) measure(ctx context.Context) (*metrics.Summary, error) {
	load, err := b.load()
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
	w := witness{tally: b.tally, counters: b.counters}
	w.evidence.Proxy, w.evidence.Vouched = b.transport.Proxy(b.Server.BaseURL), b.vouched()
	w.look(ctx)
	load.Source = w.compare(b.source)
	run := loadgen.Run{
		Header: header,
		Loads:  []loadgen.Load{load},
		Drain:  b.Limits.Drain,
		Live:   live,
		Ready:  b.warm,
		Started: func(epoch time.Time) {
			w.begin()
			header.Epoch = epoch
			b.results.begin(header)
			stopProgress = b.showProgress(live)
		},
	}
	unhook := context.AfterFunc(ctx, func() { b.tellDraining(live) })
	defer unhook()
	cut := b.take(run.Records(ctx), collector)
	if header.Epoch.IsZero() {
		return nil, interrupted(ctx, cut)
	}
	seconds := time.Since(header.Epoch).Seconds()
	w.end()
	stopProgress()

	s := collector.Summary(seconds)
	s.Interrupted = ctx.Err() != nil || cut != nil
	w.testify(context.WithoutCancel(ctx), s)
	if s.RateChanges, err = rateChanges(b.arrivals(), b.n, header.Epoch); err != nil {
		return nil, err
	}
	return s, cut
}

// take collects and records what requests did. The error is what cut the run short.
func (b *bench) take(records iter.Seq2[*metrics.Record, error], c *metrics.Collector) error {
	for rec, err := range records {
		if err != nil {
			return exitError{fmt.Errorf("the run was cut short: %w", err), exitNo}
		}
		rec.Error = b.Server.Secrets.mask(rec.Error)
		c.Add(rec)
		b.results.write(rec)
	}
	return nil
}

// counters are the server's totals of speculative and diffusion decoding and of
// its prefix cache, if it tells them.
func (b *bench) counters(ctx context.Context) (c metrics.Counters, ok bool) {
	text, err := b.server.Metrics(ctx)
	if err == nil {
		c, err = metrics.ParseCounters(strings.NewReader(text))
	}
	return c, err == nil
}

func (b *bench) arrivals() loadgen.Arrivals {
	return loadgen.Arrivals{
		Rule: b.Traffic.Rule, Rate: b.config.RequestRate, Burstiness: b.config.Burstiness,
		RampUp: b.config.RampUp, Seed: b.config.Seed, Start: b.numpy,
	}
}

// load is the test's, still without its source. It has no schedule where the conversations bring their own times.
func (b *bench) load() (load loadgen.Load, err error) {
	load = loadgen.Load{Target: b.target, Concurrency: b.config.MaxConcurrency}
	if b.config.SelfTimed {
		return load, nil
	}
	if load.Schedule, err = b.arrivals().Schedule(b.n); err != nil {
		return load, err
	}
	load.Lasts, err = b.arrivals().Lasts(b.n)
	return load, err
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
	screen := b.screen
	if screen == nil {
		screen = b.talk
	}
	p := &progress{w: screen, tty: onTerminal(screen), total: b.n, live: live}
	return p.show()
}

func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// tellDraining says what the first interrupt has begun.
func (b *bench) tellDraining(live *loadgen.Live) {
	if b.Limits.Drain <= 0 {
		return
	}
	if onTerminal(b.talk) {
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
