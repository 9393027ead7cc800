package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/tools/peers/reading"
)

// A loadJob sends a load of the selftest with one client: streams that burst together for a time,
// or requests of one token.
type loadJob struct {
	Client    string
	Program   string // servebench, which serves
	ServerCPU int
	Streams   int
	Time      time.Duration // 0 for requests of one token
	Requests  int
	Rate      float64 // of requests, as a Poisson process; 0 for each as soon as a slot is free
}

// run returns a *selftest.Row.
func (j *loadJob) run() (any, error) {
	load := selftest.Steps(j.Streams, j.Time)
	if j.Time == 0 {
		load = &selftest.Load{Streams: j.Streams, Requests: j.Requests, Tokens: 1}
	}
	if j.Rate > 0 {
		var err error
		if load.Schedule, err = (arrivals.Process{Rate: j.Rate, Burstiness: 1}).Schedule(j.Requests); err != nil {
			return nil, err
		}
	}
	if j.Client != ours {
		load.Client = func(url string) engine.Sender { return reading.Sender(j.Client, url) }
	}
	if err := load.Check(); err != nil {
		return nil, err
	}
	return load.Measure(context.Background(), func(s *metronome.Server) *exec.Cmd {
		serve := selftest.Program(j.Program)(s)
		return pinned(context.Background(), j.ServerCPU, append([]string{serve.Path}, serve.Args[1:]...))
	})
}

// load sends one, with client and server on separate CPUs.
func (p *plan) load(j loadJob) (selftest.Row, error) {
	j.Program, j.ServerCPU = p.program, p.serverCPU
	return measure[selftest.Row](p.clientCPU, &j)
}

// starting counts request starts.
func (p *plan) starting() ([]line, error) {
	const connections = 64
	r, err := p.load(loadJob{Client: ours, Streams: connections, Requests: p.requests})
	perSecond := 1e6 / r.CPU
	figure := fmt.Sprintf("%.0f (%.1f µs of CPU each; %.0f a second over %d connections)", perSecond, r.CPU, r.PerS,
		connections)
	return []line{line{"request starts per second of one core", figure, "≥ 20000",
		verdictOf(perSecond >= 20_000)}.despite(r.Void)}, err
}

// holding measures how much memory a long stream takes, and whether very many can be held.
func (p *plan) holding() ([]line, error) {
	const manyStreams = 10_000
	few, err := p.load(loadJob{Client: ours, Streams: pacedStreams, Time: 2 * time.Second})
	if err != nil {
		return nil, err
	}
	memory := valueOf(few.RSS)
	lines := []line{{"memory per long stream", fmt.Sprintf("%.1f KiB each of %d", memory, pacedStreams), "≤ 16 KiB",
		verdictOf(memory <= 16)}}
	many := line{fmt.Sprintf("%d streams in one process", manyStreams), "not in quick mode", "no error", void}
	if p.quick {
		return append(lines, many), nil
	}
	if err := wire.CheckSockets(manyStreams); err != nil {
		many.figure = err.Error()
		return append(lines, many), nil
	}
	r, err := p.load(loadJob{Client: ours, Streams: manyStreams, Time: 10 * time.Second})
	many.verdict, many.figure = verdictOf(r.Failed == 0), fmt.Sprintf("%d failed, %.1f KiB each", r.Failed, valueOf(r.RSS))
	if r.Failed > 0 {
		many.figure += ": " + r.Failure
	}
	return append(lines, many), err
}

// lagging measures the lag of requests that are due at a time.
func (p *plan) lagging() ([]line, error) {
	var lines []line
	for _, way := range []struct {
		name, client string
		rate         int
	}{
		{"1000 a second", reading.AtOnce, 1000},
		{"5000 a second", reading.AtOnce, 5000},
		{"10000 a second", reading.AtOnce, 10_000},
		{"1000 a second to a server", ours, 1000},
		{"5000 a second to a server", ours, 5000},
	} {
		r, err := measure[selftest.Row](anyCPU, &loadJob{
			Client: way.client, Program: p.program, ServerCPU: anyCPU,
			Streams: 1, Requests: way.rate * p.lagSeconds, Rate: float64(way.rate),
		})
		if err != nil {
			return nil, err
		}
		p50, p99 := r.Lag.P50/1000, r.Lag.P99/1000
		lag := line{way.name, fmt.Sprintf("p50 %.3f, p99 %.3f ms", p50, p99), "≤ 0.1, ≤ 2 ms",
			verdictOf(p50 <= 0.1 && p99 <= 2)}
		lines = append(lines, lag.despite(r.Void))
	}
	return lines, nil
}
