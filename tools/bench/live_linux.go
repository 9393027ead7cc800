package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
)

const (
	// liveStreams are open at once, and each has an event every liveGap.
	liveStreams = 512
	liveGap     = 20 * time.Millisecond
	// liveEvents is how many events of each stream make one measurement.
	liveEvents = 25
)

// A liveJob lets one client read streams as they come from a server in another process. Unlike in a
// burst, the client waits between events, and its caches forget some of each stream meanwhile.
type liveJob struct {
	Client    string
	Program   string // servebench, which serves
	ServerCPU int
	Times     int // measurements
}

// run returns a burstCost.
func (j *liveJob) run() (any, error) {
	ctx, end := context.WithCancel(context.Background())
	defer end() // and with it the server
	addr, err := j.serve(ctx)
	if err != nil {
		return nil, err
	}
	r, err := newReader(j.Client, addr)
	if err != nil {
		return nil, err
	}
	for range liveStreams {
		if err := r.connect(addr); err != nil {
			return nil, err
		}
	}
	if _, err := j.cost(r, 1); err != nil { // while streams start
		return nil, err
	}
	return j.cost(r, j.Times)
}

// serve starts the server, which ends with ctx.
func (j *liveJob) serve(ctx context.Context) (net.Addr, error) {
	cmd := pinned(ctx, j.ServerCPU, j.Program, "selftest-server", "--ttft", "50ms", "--itl", liveGap.String(), "--aligned=false")
	if _, err := cmd.StdinPipe(); err != nil { // the server lives until it is closed
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	_, at, _ := strings.Cut(strings.TrimSpace(line), "http://")
	return net.ResolveTCPAddr("tcp", at)
}

// cost measures so many times.
func (j *liveJob) cost(r reader, times int) (cost burstCost, err error) {
	const events = liveStreams * liveEvents
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		r.expect(events)
		start := processTime()
		if err := r.consume(); err != nil && !errors.Is(err, errEarly) {
			return cost, err
		}
		cost.CPU = append(cost.CPU, float64(processTime()-start)/events)
	}
	runtime.ReadMemStats(&after)
	slices.Sort(cost.CPU)
	cost.Allocs = float64(after.Mallocs-before.Mallocs) / float64(times*events)
	return cost, nil
}

// living compares the clients at streams that they read as they come. servebench may take as many
// floors as floors.
func (p *plan) living(floors float64) ([]row, error) {
	if p.clientCPU == p.serverCPU {
		return []row{{"servebench", "not measured: client and server have one CPU together", fmt.Sprintf("≤ %.2f", floors), void}}, nil
	}
	rounds, err := compare(p.clientCPU, p.pacedRounds, func(client string) job {
		return &liveJob{Client: client, Program: p.program, ServerCPU: p.serverCPU, Times: p.lives}
	})
	return burstRows(rounds, metrics.Median, floors, 0), err
}
