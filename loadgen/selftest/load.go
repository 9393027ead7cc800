package selftest

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/loadgen/wire"
)

// A Load is one measurement of the machine. Each Measure makes a Row. It may be measured any number
// of times, one after the other.
type Load struct {
	Name string // of its Row
	Kind string // steps, at-once, poisson, or the caller's own

	// Streams is how many connections are open when the load begins.
	Streams  int
	Requests int
	Tokens   int // of each request
	// Schedule says when requests are due. Without one a request starts as soon as
	// one of Streams slots is free.
	Schedule engine.Schedule
	// Settled is how long the load grows. Earlier events count only for the TTFT.
	Settled time.Duration

	Server metronome.Server // its settings
	// Client returns what sends to the server at url; nil for servebench's own client.
	Client func(url string) engine.Sender

	Spelling naming.Spelling // of the settings that Check names
}

const (
	// stepRate bounds the events a second of a load in steps. Above it, we would measure the
	// server, not the client.
	stepRate    = 40960
	shortStep   = 20 * time.Millisecond
	startedOnce = 1024
	startTTFT   = 50 * time.Millisecond
	// poissonRate keeps on average startedOnce streams of poissonTokens in progress.
	poissonRate   = 395
	poissonTokens = 128
)

// Steps is n streams that burst together for d. Before that they start evenly over a
// quarter of d.
func Steps(n int, d time.Duration) *Load {
	step := max(shortStep, time.Duration(n)*time.Second/stepRate).Round(time.Millisecond)
	start := d / 4
	return &Load{
		Name: fmt.Sprintf("%d per %d ms", n, step.Milliseconds()), Kind: "steps",
		Streams: n, Requests: n, Tokens: max(int((start+d)/step), 2),
		Schedule: evenly(n, start),
		Settled:  start,
		Server:   metronome.Server{ITL: step, Aligned: true},
	}
}

// atOnce is 1024 streams that start at the same instant.
func atOnce() *Load {
	return &Load{
		Name: fmt.Sprintf("%d at once", startedOnce), Kind: "at-once",
		Streams: startedOnce, Requests: startedOnce, Tokens: 64,
		Schedule: evenly(startedOnce, 0),
		Server:   metronome.Server{TTFT: startTTFT, ITL: shortStep},
	}
}

// poisson is 395 streams a second that start at random. It lasts for d after the number of streams
// has reached its mean of 1024.
func poisson(d time.Duration) (*Load, error) {
	whole := startTTFT + poissonTokens*shortStep
	requests := int(poissonRate * (whole + d).Seconds())
	schedule, err := arrivals.Process{Rate: poissonRate, Burstiness: 1}.Schedule(requests)
	return &Load{
		Name: fmt.Sprintf("%d Poisson", startedOnce), Kind: "poisson",
		Streams: startedOnce, Requests: requests, Tokens: poissonTokens,
		Schedule: schedule,
		Server:   metronome.Server{TTFT: startTTFT, ITL: shortStep},
	}, err
}

// evenly spreads n starts over d.
func evenly(n int, d time.Duration) engine.Schedule {
	return func(yield func(time.Duration) bool) {
		for i := 0; i < n && yield(d*time.Duration(i)/time.Duration(n)); i++ {
		}
	}
}

// Loads are the loads of a whole selftest: the loads InSteps, 1024 streams that start at the same
// instant, and streams that start at random, 1024 on average.
func Loads(streams []int, d time.Duration) ([]*Load, error) {
	poisson, err := poisson(d)
	return append(InSteps(streams, d), atOnce(), poisson), err
}

// InSteps is a load in steps for each number of streams, the smallest first.
func InSteps(streams []int, d time.Duration) []*Load {
	var loads []*Load
	for _, n := range slices.Compact(slices.Sorted(slices.Values(streams))) {
		loads = append(loads, Steps(n, d))
	}
	return loads
}

// Lasts is roughly how long the load takes.
func (l *Load) Lasts() time.Duration {
	last := time.Duration(0)
	for due := range l.Schedule {
		last = due
	}
	return last + l.Server.TTFT + time.Duration(l.Tokens)*l.Server.ITL
}

// Check reports why this machine cannot hold the load's connections. Like
// wire.CheckSockets, it raises the limit on file descriptors.
func (l *Load) Check() error { return l.Spelling.SpellError(wire.CheckSockets(l.Streams)) }

// Measure starts a server, sends the load, waits for the end of both, and reports how right the
// numbers were. The Row counts failed requests. It is an error if all requests failed, if the
// server did not start or end well, if its events do not tell when they were written, or if ctx
// ended.
func (l *Load) Measure(ctx context.Context, server Command) (*Row, error) {
	out := &outcome{probes: newProbes(l.Requests, l.Tokens)}
	debug.FreeOSMemory() // so that memory of the previous row does not count
	resident := residentBytes()

	watch := StartWatch()
	err := l.put(ctx, server, out)
	disturbance := watch.Stop(out.serverCPU)
	if err != nil {
		return nil, err
	}

	row := l.row(out)
	row.Disturbance = disturbance
	if resident > 0 && out.resident > resident {
		row.RSS = new(rounded(float64(out.resident-resident) / 1024 / float64(l.Streams)))
	}
	if err := row.compare(out.probes); err != nil {
		return nil, err
	}
	if row.Failed == l.Requests {
		return nil, fmt.Errorf("all requests failed: %s", row.Failure)
	}
	return row, nil
}

// put starts a server, sends the load, and stops the server.
func (l *Load) put(ctx context.Context, server Command, out *outcome) error {
	p, err := start(server(&l.Server))
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	err = l.send(ctx, p.url, out)
	var ended error
	out.served, out.serverCPU, ended = p.stop()
	if err != nil {
		return err
	}
	return ended
}
