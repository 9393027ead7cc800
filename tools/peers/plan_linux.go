package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/selftest"
)

// A plan says how much to measure of servebench's parts, and where. Clients take turns and are
// compared within a round, in ratios, because the machine may be shared and absolute times vary
// with its neighbours. Most clients run in a child process, with the instruments of package
// selftest: a metronome is the server, a selftest.Load is sent, and a selftest.Watch reports
// disturbances.
type plan struct {
	*bench
	quick   bool
	program string // servebench

	rounds, bursts int           // of the burst bench, and in each round
	pacedRounds    int           // of the paced bench
	paced          time.Duration // of each client in such a round
	lives          int           // measurements of the live bench in each such round
	requests       int           // whose starts are counted
	lagSeconds     int           // at each rate
	firsts         int           // runs whose first request is timed; the best counts
}

func newPlan(b *bench, program string, quick bool) *plan {
	p := &plan{rounds: 7, bursts: 200, pacedRounds: 4, paced: 3 * time.Second, lives: 5, requests: 60_000, lagSeconds: 3,
		firsts: 3}
	if quick {
		p = &plan{rounds: 2, bursts: 60, pacedRounds: 1, paced: 1500 * time.Millisecond, lives: 2, requests: 10_000,
			lagSeconds: 1, firsts: 1}
	}
	p.bench, p.quick, p.program = b, quick, program
	return p
}

// print measures and prints. An error means that something could not be measured.
func (p *plan) print(w io.Writer, only string) error {
	began, stop := time.Now(), observe()
	s := &sheet{w: w, n: make(map[verdict]int)}
	var failed error
	for _, part := range []struct {
		title   string
		measure func() ([]line, error)
	}{
		{"burst: CPU of reading 256 streams, one event a read (p10; median of the rounds, least and most)",
			func() ([]line, error) { return p.bursting(1, 1.7, 1.5) }},
		{"burst: eight events a read", func() ([]line, error) { return p.bursting(8, 3, 0) }},
		{"live: CPU of reading 512 streams with an event every 20 ms each, a core each for client and server (median of " +
			"the rounds, least and most)",
			func() ([]line, error) { return p.living(1.25) }},
		{"paced, 1024 streams that burst every 25 ms, a core each for client and server", p.pacing},
		{"requests", p.starting},
		{"runs with records and prompts, from start to end", p.runs},
		{"long streams", p.holding},
		{"pacing lag (p50, p99)", p.lagging},
		{"start to first request, 1000 random prompts", p.firstRequests},
		{"ids of texts of 1000 tokens, a core (the best of five passes)", func() ([]line, error) { return encoding(p) }},
		{"many streams that start", p.startsOfMany},
		{"a million requests that were recorded", p.million},
	} {
		if !strings.Contains(part.title, only) {
			continue
		}
		lines, err := part.measure()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", part.title, err))
			continue
		}
		s.add(part.title, lines)
	}
	s.sum()
	average, err := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(w, "%d CPUs, load average %.14s; others took %.0f %% of a core in these %.0f s\n",
		runtime.NumCPU(), average, valueOf(stop().Others), time.Since(began).Seconds())
	return errors.Join(failed, err)
}

// observe looks for disturbances of this process and its children until stop is called.
func observe() (stop func() selftest.Disturbance) {
	w, before := selftest.StartWatch(), childrenTime()
	return func() selftest.Disturbance { return w.Stop(childrenTime() - before) }
}

// childrenTime is the CPU time of the children that have ended.
func childrenTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
