package main

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
)

// burstClients are compared with each other, the floor first.
var burstClients = []string{bare, bareStamped, ours, goOpenAI, plain}

// noAllocs is how much per event still counts as none: a burst may allocate twice.
const noAllocs = 2.0 / burstStreams

// A burstRound is what each client needed, one after the other: if the machine slows down for a
// while, it slows them all.
type burstRound struct {
	costs map[string]burstCost
	void  bool // other programs used the machine: even on another CPU, they use its caches
}

// cpu is what a client needed when nothing disturbed it: the tenth percentile of its bursts.
func (r burstRound) cpu(client string) float64 { return metrics.Percentile(r.costs[client].CPU, 10) }

// bursting compares the clients if a write holds so many events. Ours may take as many floors as
// floors, and go-openai must take gain times ours, unless gain is zero.
func (p *plan) bursting(events int, floors, gain float64) ([]row, error) {
	var rounds []burstRound
	for range p.rounds {
		round, stop := burstRound{costs: make(map[string]burstCost)}, watch()
		for _, client := range burstClients {
			cost, err := measure[burstCost](p.clientCPU, &burstJob{client, events, p.bursts / events})
			if err != nil {
				return nil, err
			}
			round.costs[client] = cost
		}
		round.void = stop().Void != ""
		rounds = append(rounds, round)
	}
	return burstRows(rounds, floors, gain), nil
}

func burstRows(all []burstRound, floors, gain float64) []row {
	rounds, voids, judge := counting(all, func(r burstRound) bool { return r.void })
	ratios := func(client, other string) []float64 {
		return figures(rounds, func(r burstRound) float64 { return r.cpu(client) / r.cpu(other) })
	}
	allocs := func(client string) float64 {
		return metrics.Median(figures(rounds, func(r burstRound) float64 { return r.costs[client].Allocs }))
	}
	rows := []row{{measure: bare, figure: fmt.Sprintf("%.0f ns an event; %s",
		metrics.Median(figures(rounds, func(r burstRound) float64 { return r.cpu(bare) })), voids)}}
	for _, client := range burstClients[1:] {
		r := row{measure: client, figure: spread(ratios(client, bare)) + " × floor"}
		if client == ours {
			r.target, r.verdict = fmt.Sprintf("≤ %.1f", floors), judge(metrics.Median(ratios(ours, bare)) <= floors)
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
