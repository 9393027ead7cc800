package main

import (
	"fmt"
	"slices"
)

const (
	// burstStreams is how many streams burst together.
	burstStreams = 256
	// noAllocs is what is let pass as none an event: that of a burst as a whole.
	noAllocs = 2.0 / burstStreams
)

// burstClients are compared with each other, the floor first.
var burstClients = []string{bare, bareStamped, ours, goOpenAI, plain}

// A burstRound is what each client needed, one after the other: what slows the
// machine down for a while slows them all.
type burstRound map[string]burstCost

// void says that others used the machine meanwhile: on another CPU, too, they
// take from its caches.
func (r burstRound) void() bool {
	for _, cost := range r {
		if cost.Others > tolerated {
			return true
		}
	}
	return false
}

// ratio is what a client needed in units of what another did, where nothing
// disturbed them: each at the tenth percentile of its bursts.
func (r burstRound) ratio(client, other string) float64 { return r.cpu(client) / r.cpu(other) }

func (r burstRound) cpu(client string) float64 {
	return percentile(slices.Sorted(slices.Values(r[client].CPU)), 10)
}

// bursting compares the clients where a write holds so many events, which may
// take ours so many floors, and go-openai must take gain times ours, if that is
// not zero.
func (p *plan) bursting(events int, floors, gain float64) ([]row, error) {
	var rounds []burstRound
	for range p.rounds {
		round := make(burstRound)
		for _, client := range burstClients {
			j := burstJob{Client: client, Streams: burstStreams, Events: events, Bursts: p.bursts / events}
			cost, err := measure[burstCost](p.clientCPU, j)
			if err != nil {
				return nil, err
			}
			round[client] = cost
		}
		rounds = append(rounds, round)
	}
	return burstRows(rounds, floors, gain), nil
}

func burstRows(all []burstRound, floors, gain float64) []row {
	rounds, voids := counting(all, burstRound.void)
	of := func(figure func(burstRound) float64) []float64 {
		var values []float64
		for _, r := range rounds {
			values = append(values, figure(r))
		}
		return values
	}
	rows := []row{{measure: bare, figure: fmt.Sprintf("%.0f ns an event; %d of %d rounds void",
		median(of(func(r burstRound) float64 { return r.cpu(bare) })), voids, len(all))}}
	for _, client := range burstClients[1:] {
		ratios := of(func(r burstRound) float64 { return r.ratio(client, bare) })
		r := row{measure: client, figure: spread(ratios) + " × floor"}
		if client == ours {
			r.target, r.verdict = fmt.Sprintf("≤ %.1f", floors), atMost(median(ratios), floors)
		}
		rows = append(rows, r)
	}
	gains := of(func(r burstRound) float64 { return r.ratio(goOpenAI, ours) })
	allocs := median(of(func(r burstRound) float64 { return r[ours].Allocs }))
	more := row{measure: goOpenAI, figure: spread(gains) + " × servebench"}
	if gain > 0 {
		more.target, more.verdict = fmt.Sprintf("≥ %.1f", gain), atLeast(median(gains), gain)
	}
	rows = append(rows, more,
		row{"allocations per event", fmt.Sprintf("%.2f (go-openai %.0f, plain %.0f)", allocs, rounds[0][goOpenAI].Allocs, rounds[0][plain].Allocs), "0", atMost(allocs, noAllocs)})
	return voided(rows, voids == len(all), "allocations per event")
}

// counting gives the rounds that count, which are those that are not void, or all
// where all are, and then for nothing.
func counting[R any](all []R, void func(R) bool) (rounds []R, voids int) {
	rounds = slices.DeleteFunc(slices.Clone(all), void)
	if voids = len(all) - len(rounds); voids == len(all) {
		rounds = all
	}
	return rounds, voids
}

// voided takes their verdicts from rows that were disturbed, if they were. What
// was measured by counting stands.
func voided(rows []row, disturbed bool, counted string) []row {
	for i := range rows {
		if disturbed && rows[i].verdict != none && rows[i].measure != counted {
			rows[i].verdict = void
		}
	}
	return rows
}
