package main

import (
	"fmt"

	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/tools/peers/reading"
)

// burstClients are compared with each other, the floor first.
var burstClients = []string{reading.Bare, reading.BareStamped, ours, reading.Recording, reading.GoOpenAI, reading.Plain}

// noAllocs is how much per event still counts as none: a burst may allocate twice.
const noAllocs = 2.0 / reading.BurstStreams

// recordingCosts is how many times as much an event may cost if it is recorded and counted for the
// live view.
const recordingCosts = 1.12

// A burstRound is what each client needed, one after the other: if the machine slows down for a
// while, it slows them all.
type burstRound struct {
	costs map[string]reading.Cost
	void  bool // other programs used the machine: even on another CPU, they use its caches
}

// undisturbed is what a client needed when nothing disturbed it: the tenth percentile of its
// bursts.
func undisturbed(sorted []float64) float64 { return numpy.Percentile(sorted, 10) }

// bursting compares the clients if a write holds so many events. Ours may take as many floors as
// floors, and go-openai must take gain times ours, unless gain is zero.
func (p *plan) bursting(events int, floors, gain float64) ([]line, error) {
	rounds, err := roundsOf(p.clientCPU, p.rounds,
		func(client string) job { return &burstJob{client, events, p.bursts / events} })
	return burstLines(rounds, undisturbed, floors, gain), err
}

// living compares the clients at streams that they read as they come. Ours may take as many floors
// as floors.
func (p *plan) living(floors float64) ([]line, error) {
	if p.clientCPU == p.serverCPU {
		return []line{{"servebench", "not measured: client and server have one CPU together", fmt.Sprintf("≤ %.2f", floors),
			void}}, nil
	}
	rounds, err := roundsOf(p.clientCPU, p.pacedRounds,
		func(client string) job { return &liveJob{client, p.serverCPU, p.lives} })
	return burstLines(rounds, numpy.Median, floors, 0), err
}

// roundsOf measures each client in turn on a CPU, so many times.
func roundsOf(cpu, times int, jobOf func(client string) job) (rounds []burstRound, err error) {
	for range times {
		round, stop := burstRound{costs: make(map[string]reading.Cost)}, observe()
		for _, client := range burstClients {
			if round.costs[client], err = measure[reading.Cost](cpu, jobOf(client)); err != nil {
				return nil, err
			}
		}
		round.void = stop().Void != ""
		rounds = append(rounds, round)
	}
	return rounds, nil
}

// burstLines compares what the clients needed. typical is the cost of a round's measurements, in
// ascending order.
func burstLines(all []burstRound, typical func(sorted []float64) float64, floors, gain float64) []line {
	cpu := func(r burstRound, client string) float64 { return typical(r.costs[client].CPU) }
	rounds, voids, judge := counting(all, func(r burstRound) bool { return r.void })
	ratios := func(client, other string) []float64 {
		return each(rounds, func(r burstRound) float64 { return cpu(r, client) / cpu(r, other) })
	}
	allocs := func(client string) float64 {
		return numpy.Median(each(rounds, func(r burstRound) float64 { return r.costs[client].Allocs }))
	}
	lines := []line{{measure: reading.Bare, figure: fmt.Sprintf("%.0f ns an event; %s",
		numpy.Median(each(rounds, func(r burstRound) float64 { return cpu(r, reading.Bare) })), voids)}}
	for _, client := range burstClients[1:] {
		l := line{measure: client, figure: ranged(ratios(client, reading.Bare)) + " × floor"}
		switch most := floors; client {
		case reading.Recording:
			most *= recordingCosts
			fallthrough
		case ours:
			l.target, l.verdict = fmt.Sprintf("≤ %.2f", most), judge(numpy.Median(ratios(client, reading.Bare)) <= most)
		}
		lines = append(lines, l)
	}
	more := line{measure: reading.GoOpenAI, figure: ranged(ratios(reading.GoOpenAI, ours)) + " × servebench"}
	if gain > 0 {
		more.target, more.verdict = fmt.Sprintf("≥ %.1f", gain), judge(numpy.Median(ratios(reading.GoOpenAI, ours)) >= gain)
	}
	return append(lines, more, line{"allocations per event",
		fmt.Sprintf("%.2f (go-openai %.0f, plain %.0f)", allocs(ours), allocs(reading.GoOpenAI), allocs(reading.Plain)), "0",
		verdictOf(allocs(ours) <= noAllocs)})
}
