package selftest

import (
	"context"
	"fmt"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/metrics"
)

// A Load is what the machine is measured under, and makes one Row. It can be put
// on any number of times, one after the other.
type Load struct {
	name     string
	kind     string // steps, at-once or poisson
	streams  int    // at once
	requests int
	tokens   int // of each request
	schedule loadgen.Schedule
	server   metronome.Metronome // its settings
	settled  time.Duration       // what comes before is not compared: the load is still growing
}

const (
	// stepRate bounds the events a second of a load in steps; beyond it the server
	// would be measured.
	stepRate    = 40960
	shortStep   = 20 * time.Millisecond
	startedOnce = 1024
	startTTFT   = 50 * time.Millisecond
	// poissonRate keeps startedOnce streams of poissonTokens going in the mean.
	poissonRate   = 395
	poissonTokens = 128
)

// Steps is n streams that burst together for d, started evenly over a quarter of
// that before.
func Steps(n int, d time.Duration) *Load {
	step := max(shortStep, time.Duration(n)*time.Second/stepRate).Round(time.Millisecond)
	start := d / 4
	return &Load{
		name: fmt.Sprintf("%d per %d ms", n, step.Milliseconds()), kind: "steps",
		streams: n, requests: n, tokens: max(int((start+d)/step), 2),
		schedule: evenly(n, start),
		server:   metronome.Metronome{ITL: step, Aligned: true},
		settled:  start,
	}
}

// AtOnce is 1024 streams that start at one instant.
func AtOnce() *Load {
	return &Load{
		name: fmt.Sprintf("%d at once", startedOnce), kind: "at-once",
		streams: startedOnce, requests: startedOnce, tokens: 64,
		schedule: evenly(startedOnce, 0),
		server:   metronome.Metronome{TTFT: startTTFT, ITL: shortStep},
	}
}

// Poisson is 395 streams a second that start at random: for d, once there are as
// many as there will be, 1024 in the mean.
func Poisson(d time.Duration) (*Load, error) {
	whole := startTTFT + poissonTokens*shortStep
	requests := int(poissonRate * (whole + d).Seconds())
	schedule, err := loadgen.Arrivals{Rate: poissonRate, Burstiness: 1}.Schedule(requests)
	return &Load{
		name: fmt.Sprintf("%d Poisson", startedOnce), kind: "poisson",
		streams: startedOnce, requests: requests, tokens: poissonTokens,
		schedule: schedule,
		server:   metronome.Metronome{TTFT: startTTFT, ITL: shortStep},
	}, err
}

// evenly spreads n starts over d.
func evenly(n int, d time.Duration) loadgen.Schedule {
	return func(yield func(time.Duration) bool) {
		for i := 0; i < n && yield(d*time.Duration(i)/time.Duration(n)); i++ {
		}
	}
}

// String is the name of the load's Row, such as "64 per 20 ms".
func (l *Load) String() string { return l.name }

// Lasts is about how long the load goes on.
func (l *Load) Lasts() time.Duration {
	last := time.Duration(0)
	for due := range l.schedule {
		last = due
	}
	return last + l.server.TTFT + time.Duration(l.tokens)*l.server.ITL
}

// Check reports why this machine cannot put the load on: see
// loadgen.CheckSockets, which raises the limit on descriptors.
func (l *Load) Check() error { return loadgen.CheckSockets(l.streams) }

// A Command makes the command that runs a server with the settings of m, which
// is not started by it. The process must hand its standard input and output to
// Serve, together with a Metronome of these settings; both are Load's.
type Command func(m *metronome.Metronome) (*exec.Cmd, error)

// Measure puts the load on a server of its own, waits for the end of both, and
// says how right the numbers were. That requests failed is in the Row, and an
// error only when all have, as it is when the server did not start or end well,
// when its events do not tell the truth, and when ctx was done.
func (l *Load) Measure(ctx context.Context, server Command) (*Row, error) {
	out := &outcome{probes: newProbes(l.requests, l.tokens)}
	debug.FreeOSMemory() // what the row before needed is not this row's
	resident := residentBytes()

	began, machine, pulse := time.Now(), loadgen.ReadMachineCPU(), loadgen.StartPulse()
	err := l.put(ctx, server, out)
	machine = loadgen.ReadMachineCPU().Sub(machine)
	var whole metrics.Evidence
	pulse.Stop(&whole)
	window := time.Since(began)
	if err != nil {
		return nil, err
	}

	row := l.row(out)
	row.Clock = rounded(whole.ClockStep.Seconds() * 1000)
	if resident > 0 && out.resident > resident {
		row.RSS = new(rounded(float64(out.resident-resident) / 1024 / float64(l.streams)))
	}
	row.disturb(machine, whole.CPU+out.serverCPU, window)
	if err := row.compare(out.probes); err != nil {
		return nil, err
	}
	if row.Failed == l.requests {
		return nil, fmt.Errorf("all requests failed: %s", row.Failure)
	}
	return row, nil
}

// put starts a server and loads it.
func (l *Load) put(ctx context.Context, server Command, out *outcome) error {
	p, err := start(server, &l.server)
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
