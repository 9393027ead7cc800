// Command bench measures what servebench costs and how right it is, beside the
// bare reading of sockets, go-openai and a plain client of the standard library,
// and holds that against the targets.
//
// Each measurement runs in a child process, on one CPU where it matters. What is
// compared runs in turns, and in ratios of one round, because the machine may be
// shared: absolute times swing with its neighbours.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "child" {
		exit(work(os.Args[2], os.Args[3]))
	}
	quick := flag.Bool("quick", os.Getenv("BENCH_QUICK") != "", "measure less, within 50 s")
	only := flag.String("only", "", "measure only what has this in its title")
	profile := flag.String("profile", "", "write a CPU profile of our client in the burst bench to this `file`, and measure nothing")
	flag.Parse()
	p, err := newPlan(*quick)
	switch {
	case err != nil:
		exit(err)
	case *profile != "":
		exit(p.profile(*profile))
	}
	exit(p.bench(os.Stdout, *only))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench measures and prints. An error means that something could not be measured.
func (p *plan) bench(w io.Writer, only string) error {
	start, err := usageOf("cpu")
	if err != nil {
		return err
	}
	t := &table{w: w, n: make(map[verdict]int)}
	var failed error
	for _, part := range []struct {
		title   string
		measure func() ([]row, error)
	}{
		{"burst, one event a read (CPU of reading, p10)", func() ([]row, error) { return p.bursting(1) }},
		{"burst, eight events a read", func() ([]row, error) { return p.bursting(8) }},
		{"paced, 1000 streams that burst every 25 ms, a core each for client and server", p.pacing},
		{"requests", p.starting},
		{"long streams", p.holding},
		{"pacing lag (p50, p99)", p.lagging},
		{"start to first request, 1000 random prompts", p.firstRequests},
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
	return errors.Join(failed, sayLoad(w, start))
}

// sayLoad tells what else the machine did.
func sayLoad(w io.Writer, start usage) error {
	end, err := usageOf("cpu")
	if err != nil {
		return err
	}
	end.own += childrenTime()
	_, others := end.since(start)
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%d CPUs, load average %.14s; others took %.2f of a CPU in these %.0f s\n",
		runtime.NumCPU(), average, others, end.at.Sub(start.at).Seconds())
	return err
}

// profile profiles what the burst bench measures. The writing is in it, too, in
// functions of the feeder.
func (p *plan) profile(name string) error {
	_, err := measure[burstCost](p.clientCPU, burstJob{Client: ours, Streams: burstStreams, Events: 1, Bursts: 3000, Profile: name})
	return err
}
