package main

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
)

// burstClients are compared with each other, the floor first.
var burstClients = []string{bare, bareStamped, ours, recording, goOpenAI, plain}

// noAllocs is how much per event still counts as none: a burst may allocate twice.
const noAllocs = 2.0 / burstStreams

// recordingCosts is how many times as much an event may cost if it is recorded and counted for the
// live view.
const recordingCosts = 1.12

// A burstRound is what each client needed, one after the other: if the machine slows down for a
// while, it slows them all.
type burstRound struct {
	costs map[string]burstCost
	void  bool // other programs used the machine: even on another CPU, they use its caches
}

// undisturbed is what a client needed when nothing disturbed it: the tenth percentile of its
// bursts.
func undisturbed(sorted []float64) float64 { return metrics.Percentile(sorted, 10) }

// bursting compares the clients if a write holds so many events. Ours may take as many floors as
// floors, and go-openai must take gain times ours, unless gain is zero.
func (p *plan) bursting(events int, floors, gain float64) ([]row, error) {
	rounds, err := compare(p.clientCPU, p.rounds, func(client string) job { return &burstJob{client, events, p.bursts / events} })
	return burstRows(rounds, undisturbed, floors, gain), err
}

// compare measures each client in turn on a CPU, so many times.
func compare(cpu, times int, jobOf func(client string) job) (rounds []burstRound, err error) {
	for range times {
		round, stop := burstRound{costs: make(map[string]burstCost)}, watch()
		for _, client := range burstClients {
			if round.costs[client], err = measure[burstCost](cpu, jobOf(client)); err != nil {
				return nil, err
			}
		}
		round.void = stop().Void != ""
		rounds = append(rounds, round)
	}
	return rounds, nil
}

// burstRows compares what the clients needed. typical is the cost of a round's measurements, in
// ascending order.
func burstRows(all []burstRound, typical func(sorted []float64) float64, floors, gain float64) []row {
	cpu := func(r burstRound, client string) float64 { return typical(r.costs[client].CPU) }
	rounds, voids, judge := counting(all, func(r burstRound) bool { return r.void })
	ratios := func(client, other string) []float64 {
		return figures(rounds, func(r burstRound) float64 { return cpu(r, client) / cpu(r, other) })
	}
	allocs := func(client string) float64 {
		return metrics.Median(figures(rounds, func(r burstRound) float64 { return r.costs[client].Allocs }))
	}
	rows := []row{{measure: bare, figure: fmt.Sprintf("%.0f ns an event; %s",
		metrics.Median(figures(rounds, func(r burstRound) float64 { return cpu(r, bare) })), voids)}}
	for _, client := range burstClients[1:] {
		r := row{measure: client, figure: spread(ratios(client, bare)) + " × floor"}
		switch most := floors; client {
		case recording:
			most *= recordingCosts
			fallthrough
		case ours:
			r.target, r.verdict = fmt.Sprintf("≤ %.2f", most), judge(metrics.Median(ratios(client, bare)) <= most)
		}
		rows = append(rows, r)
	}
	more := row{measure: goOpenAI, figure: spread(ratios(goOpenAI, ours)) + " × servebench"}
	if gain > 0 {
		more.target, more.verdict = fmt.Sprintf("≥ %.1f", gain), judge(metrics.Median(ratios(goOpenAI, ours)) >= gain)
	}
	return append(rows, more, row{"allocations per event",
		fmt.Sprintf("%.2f (go-openai %.0f, plain %.0f)", allocs(ours), allocs(goOpenAI), allocs(plain)), "0", verdictOf(allocs(ours) <= noAllocs)})
}
