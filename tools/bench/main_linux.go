// Command bench measures the cost and the accuracy of servebench. It compares servebench with bare
// reading of sockets, go-openai and a plain client of the standard library, and checks the figures
// against targets.
//
// It measures with the instruments of package selftest: a metronome is the server, a selftest.Load
// is sent, and a selftest.Watch reports disturbances. Each measurement runs in a child process, on
// one CPU if that matters. Clients take turns and are compared within a round, in ratios, because
// the machine may be shared and absolute times vary with its neighbours.
//
// It needs Linux and taskset, which keeps a process on a CPU.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/loadgen/selftest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 3 && args[0] == "child" {
		return work(args[1], args[2])
	}
	quick := flag.Bool("quick", os.Getenv("BENCH_QUICK") != "", "measure less, within 50 s")
	only := flag.String("only", "", "measure only what has this in its title")
	flag.Parse()
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := newPlan(*quick, dir)
	if err != nil {
		return err
	}
	return p.bench(os.Stdout, *only)
}

// A plan says how much to measure, and where.
type plan struct {
	quick                bool
	dir                  string // for files
	program              string // servebench
	clientCPU, serverCPU int    // the same CPU if there is only one

	rounds, bursts int           // of the burst bench, and in each round
	pacedRounds    int           // of the paced bench
	paced          time.Duration // of each client in such a round
	lives          int           // measurements of the live bench in each such round
	requests       int           // whose starts are counted
	lagSeconds     int           // at each rate
	firsts         int           // runs whose first request is timed; the best counts
}

// newPlan picks the CPUs and builds servebench.
func newPlan(quick bool, dir string) (*plan, error) {
	p := &plan{rounds: 7, bursts: 200, pacedRounds: 4, paced: 3 * time.Second, lives: 5, requests: 60_000, lagSeconds: 3, firsts: 3}
	if quick {
		p = &plan{rounds: 2, bursts: 60, pacedRounds: 1, paced: 1500 * time.Millisecond, lives: 2, requests: 10_000, lagSeconds: 1, firsts: 1}
	}
	p.quick, p.dir, p.program = quick, dir, filepath.Join(dir, "servebench")
	cpus, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	p.clientCPU, p.serverCPU = cpus[0], cpus[min(1, len(cpus)-1)]
	if out, err := exec.Command("go", "build", "-o", p.program, "./cmd/servebench").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	return p, nil
}

// bench measures and prints. An error means that something could not be measured.
func (p *plan) bench(w io.Writer, only string) error {
	began, stop := time.Now(), watch()
	t := &table{w: w, n: make(map[verdict]int)}
	var failed error
	for _, part := range []struct {
		title   string
		measure func() ([]row, error)
	}{
		{"burst: CPU of reading 256 streams, one event a read (p10; median of the rounds, least and most)",
			func() ([]row, error) { return p.bursting(1, 1.7, 1.5) }},
		{"burst: eight events a read", func() ([]row, error) { return p.bursting(8, 3, 0) }},
		{"live: CPU of reading 512 streams with an event every 20 ms each, a core each for client and server (median of the rounds, least and most)",
			func() ([]row, error) { return p.living(1.25) }},
		{"paced, 1024 streams that burst every 25 ms, a core each for client and server", p.pacing},
		{"requests", p.starting},
		{"runs with records and prompts, from start to end", p.runs},
		{"long streams", p.holding},
		{"pacing lag (p50, p99)", p.lagging},
		{"start to first request, 1000 random prompts", p.firstRequests},
		{"ids of texts of 1000 tokens, a core (the best of five passes)", func() ([]row, error) { return encoding(p) }},
		{"many streams that start", p.startsOfMany},
		{"a million requests that were recorded", func() ([]row, error) { return million(p) }},
	} {
		if !strings.Contains(part.title, only) {
			continue
		}
		rows, err := part.measure()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", part.title, err))
			continue
		}
		t.add(part.title, rows)
	}
	t.sum()
	average, err := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(w, "%d CPUs, load average %.14s; others took %.0f %% of a core in these %.0f s\n",
		runtime.NumCPU(), average, known(stop().Others), time.Since(began).Seconds())
	return errors.Join(failed, err)
}

// watch looks for disturbances of this process and its children until stop is called.
func watch() (stop func() selftest.Disturbance) {
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
