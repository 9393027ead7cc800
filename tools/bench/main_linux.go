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
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "child" {
		exit(work(os.Args[2], os.Args[3]))
	}
	quick := flag.Bool("quick", os.Getenv("BENCH_QUICK") != "", "measure less, within 50 s")
	only := flag.String("only", "", "measure only what has this in its title")
	profile := flag.String("profile", "", "write CPU profiles of our client to this `folder`: burst.prof and starts.prof; and measure nothing")
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

// A part of the bench is measured by itself.
type part struct {
	title   string
	measure func() ([]row, error)
	timed   bool // its figures are worse where others take CPU time
}

func (p *plan) parts() []part {
	return []part{
		{"burst: CPU of reading 256 streams, one event a read (p10; median of the rounds, least and most)",
			func() ([]row, error) { return p.bursting(1, 1.7, 1.5) }, false},
		{"burst: eight events a read", func() ([]row, error) { return p.bursting(8, 3, 0) }, false},
		{"paced, 1000 streams that burst every 25 ms, a core each for client and server", p.pacing, false},
		{"requests", p.starting, true},
		{"long streams", p.holding, false},
		{"pacing lag (p50, p99)", p.lagging, true},
		{"start to first request, 1000 random prompts", p.firstRequests, true},
		{"many streams that start", p.startsOfMany, false},
	}
}

// bench measures and prints. An error means that something could not be measured.
func (p *plan) bench(w io.Writer, only string) (err error) {
	if p.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	if p.program, err = buildProgram(p.dir); err != nil {
		return err
	}
	start, err := usageOf("cpu")
	if err != nil {
		return err
	}
	t := &table{w: w, n: make(map[verdict]int)}
	var failed error
	for _, part := range p.parts() {
		if !strings.Contains(part.title, only) {
			continue
		}
		rows, err := part.rows()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", part.title, err))
			continue
		}
		t.add(part.title, rows)
	}
	t.sum()
	return errors.Join(failed, sayLoad(w, start))
}

// rows measures the part. A target that was missed while others took the CPUs is
// void; one that was met in spite of them is met.
func (p part) rows() ([]row, error) {
	before, err := usageOf("cpu")
	if err != nil {
		return nil, err
	}
	rows, err := p.measure()
	if err != nil || !p.timed {
		return rows, err
	}
	after, err := usageOf("cpu")
	_, others := after.since(before)
	for i := range rows {
		if rows[i].verdict == missed && others > tolerated {
			rows[i].verdict = void
			rows[i].figure += fmt.Sprintf("; others took %.1f CPUs", others)
		}
	}
	return rows, err
}

// sayLoad tells what else the machine did.
func sayLoad(w io.Writer, start usage) error {
	end, err := usageOf("cpu")
	if err != nil {
		return err
	}
	_, others := end.since(start)
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%d CPUs, load average %.14s; others took %.2f CPUs in these %.0f s\n",
		runtime.NumCPU(), average, others, end.at.Sub(start.at).Seconds())
	return err
}

// profile profiles our client in the burst bench, where the writing is in the
// profile, too, in functions of the feeder, and at starting requests.
func (p *plan) profile(dir string) error {
	reading := burstJob{Client: ours, Streams: burstStreams, Events: 1, Bursts: 3000, Profile: filepath.Join(dir, "burst.prof")}
	if _, err := measure[burstCost](p.clientCPU, reading); err != nil {
		return err
	}
	_, _, err := against[starts](p, 0, func(addr netip.AddrPort) job {
		return startsJob{Addr: addr, Requests: 100_000, Connections: startConnections, Profile: filepath.Join(dir, "starts.prof")}
	})
	return err
}
