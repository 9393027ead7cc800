package main

import (
	"errors"
	"time"
)

// A plan is how much is measured, and where.
type plan struct {
	quick                bool
	dir                  string // for files
	program              string // servebench
	clientCPU, serverCPU int    // the same where there is one alone

	rounds, bursts int           // of the burst bench, and in each round
	pacedRounds    int           // of the paced bench
	paced          time.Duration // of each client in such a round
	requests       int           // whose starts are counted
	lagSeconds     int           // at each rate
	firsts         int           // runs whose first request is timed; the best counts
}

// newPlan picks the CPUs.
func newPlan(quick bool) (*plan, error) {
	cpus, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	if len(cpus) == 0 {
		return nil, errors.New("there is no CPU to run on")
	}
	p := &plan{rounds: 7, bursts: 200, pacedRounds: 4, paced: 3 * time.Second, requests: 60_000, lagSeconds: 3, firsts: 3}
	if quick {
		p = &plan{rounds: 2, bursts: 60, pacedRounds: 1, paced: 1500 * time.Millisecond, requests: 10_000, lagSeconds: 1, firsts: 1}
	}
	p.quick, p.clientCPU, p.serverCPU = quick, cpus[0], cpus[min(1, len(cpus)-1)]
	return p, nil
}
