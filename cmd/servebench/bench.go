package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"

	"golang.org/x/term"
)

// A bench is one target and the load that it is put under: prepare finds out
// what will be sent and whether it can be, rehearse sends what comes before the
// clock starts. The test itself is a trial's.
type bench struct {
	*options
	name     string    // of the target; empty when there is only one
	out      io.Writer // what vLLM's client prints
	talk     io.Writer // all else
	results  *results
	patience time.Duration // for a call that is not part of the load

	transport *loadgen.Transport
	tally     *loadgen.Tally  // of what goes through transport
	server    *loadgen.Server // for its small calls
	served    string          // the model's name in requests
	config    metrics.Config  // of the whole run, where that has shards
	target    engine.Target
	*workload

	header    *metrics.Header // of what is sent here: see streamed
	live      *engine.Live
	series    *exporter.Series // is told of live and of each request; nil for nobody
	collector *metrics.Collector
	witness   witness
	samplers  []host.Sampler // of the server, or of each of its replicas; nil when it is not sampled
	watches   []*host.Watch  // of the samplers
	warmUp    warmUp
	sendProbe engine.Sender   // over a connection of its own; nil without probes
	prober    *engine.Prober  // nil without probes
	probes    *metrics.Probes // what came of them
	profiling bool            // the server's profiler was begun
	last      time.Duration   // when the last measured request so far ended
	lasts     time.Duration   // until when the load lasts at least
}

// arrivals go on with numpy's generator where the dataset left it.
func (b *bench) arrivals() arrivals.Arrivals {
	a := b.options.arrivals()
	a.Start = b.numpy
	return a
}

// load is what the target is put under. It has no schedule where the conversations
// bring their own times, and where only the server's answers bound how many there
// are.
func (b *bench) load() (load engine.Load, err error) {
	load = engine.Load{
		Run: b.header.Run, Target: b.target, Source: b.witness.prompts.compare(b.source, false),
		Concurrency: b.concurrency(), Delay: b.Traffic.Delay, Stop: b.Traffic.Duration, DrainLimit: b.Limits.Tail, Live: b.live,
		Shard: b.Shard.Shard,
	}
	load.Target.Retry = engine.Retry{Times: b.Traffic.Retries, Total: b.Limits.Total}
	if b.prober, err = b.newProber(); err != nil || b.config.SelfTimed {
		return load, err
	}
	if load.WarmUp, err = b.warmUpLoad(); err != nil || b.endless() {
		return load, err
	}
	if load.Schedule, err = b.arrivals().Schedule(b.n); err != nil {
		return load, err
	}
	if load.Lasts, err = b.arrivals().Lasts(b.n); load.Stop > 0 {
		load.Lasts = min(load.Lasts, load.Stop)
	}
	return load, err
}

// print prints a line that vLLM's client has since release 0.minor.patch, if the
// release that was asked for has it.
func (b *bench) print(minor, patch int, format string, args ...any) {
	if b.Results.VLLMVersion.Since(minor, patch) {
		fmt.Fprintf(b.out, format+"\n", args...)
	}
}

// announceTraffic prints what vLLM's client prints of the load.
func (b *bench) announceTraffic() {
	b.announceRate()
	if b.probing() {
		b.print(27, 0, "Probe request rate: %s req/s", metrics.FormatFloat(b.Traffic.ProbeRate))
	}
}

func (b *bench) announceRate() {
	c := b.Shard.part(b.config)
	if c.SelfTimed {
		b.print(23, 0, "Self timing is set, using the timestamps from the trace file.")
		return
	}
	switch r := c.RampUp; {
	case r != nil:
		fmt.Fprintf(b.out, "Traffic ramp-up strategy: %s.\n", r.Strategy)
		fmt.Fprintf(b.out, "Will increase RPS from %d to %d RPS over the duration of the benchmark.\n", r.Start, r.End)
	case c.RateCurve != "":
		fmt.Fprintf(b.out, "Traffic rate curve: %s\n", c.RateCurve)
	default:
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

func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// rateChanges are those of a ramp, as far as something was sent.
func (b *bench) rateChanges() ([]metrics.RateChange, error) {
	rises, err := b.arrivals().RateRises(b.n)
	var changes []metrics.RateChange
	for _, r := range rises {
		if until := b.Traffic.Duration; until == 0 || r.Offset < until {
			changes = append(changes, metrics.RateChange{RPS: r.RPS, At: b.header.Epoch.Add(b.header.Began() + r.Offset)})
		}
	}
	return changes, err
}

// atOnce is how many requests can be in flight together, as far as the flags
// bound it: all of them at an infinite rate. A warm-up has no end of them.
func (b *bench) atOnce() int {
	switch {
	case b.Traffic.WarmUp > 0:
		return b.concurrency()
	case b.config.MaxConcurrency > 0:
		return min(b.share(), b.concurrency())
	case b.atInfiniteRate():
		return b.share()
	}
	return 0
}
