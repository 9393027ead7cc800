package main

import (
	"fmt"
	"net/netip"
)

const (
	pacedStreams = 1000
	// tolerated is the share of the client's CPU beyond which a round is void
	// when others took it.
	tolerated = 0.15
)

// pacedClients are compared with each other, the floor first.
var pacedClients = []string{bareStamped, ours, goOpenAI, plain}

// A pacedRound is what one client did in one round.
type pacedRound struct {
	paced
	late float64 // share of the server's events that were
}

func (r pacedRound) void() bool { return r.Others > tolerated }

// pacing compares the clients at streams that burst together in steps, client and
// server on a CPU each.
func (p *plan) pacing() ([]row, error) {
	if p.clientCPU == p.serverCPU {
		return []row{{"stamp error", "not measured: client and server have one CPU together", stampTarget, void}}, nil
	}
	rounds := make(map[string][]pacedRound)
	for range p.pacedRounds {
		for _, client := range pacedClients {
			result, count, err := against[paced](p, step, func(addr netip.AddrPort) job {
				return pacedJob{client, addr, p.clientCPU, pacedStreams, int(p.paced / step)}
			})
			if err != nil {
				return nil, err
			}
			rounds[client] = append(rounds[client], pacedRound{result, float64(count.Late) / float64(count.Events)})
		}
	}
	var rows []row
	for _, client := range pacedClients {
		rows = append(rows, pacedRows(client, rounds[client])...)
	}
	return rows, nil
}

const stampTarget = "p99 ≤ 0.1, p99.9 ≤ 1 ms"

// pacedRows shows the medians of one client's rounds. Those that are void count
// only where all are, and then for nothing.
func pacedRows(client string, rounds []pacedRound) []row {
	valid, voids := counting(rounds, pacedRound.void)
	of := func(figure func(pacedRound) float64) float64 {
		var all []float64
		for _, r := range valid {
			all = append(all, figure(r))
		}
		return median(all)
	}
	rows := []row{{measure: client, figure: fmt.Sprintf("%.0f ns of CPU an event; others took %.0f%% of the CPU; %d of %d rounds void; server late at %.1f%%",
		of(func(r pacedRound) float64 { return r.CPU }),
		100*of(func(r pacedRound) float64 { return r.Others }), voids, len(rounds),
		100*of(func(r pacedRound) float64 { return r.late }))}}
	if client == bareStamped {
		return rows
	}
	p99 := of(func(r pacedRound) float64 { return r.Alone.P99 })
	p999 := of(func(r pacedRound) float64 { return r.Alone.P999 })
	stamps := row{measure: "  stamp error", figure: fmt.Sprintf("p50 %.3f, p99 %.3f, p99.9 %.3f, max %.3f ms",
		of(func(r pacedRound) float64 { return r.Alone.P50 }), p99, p999,
		of(func(r pacedRound) float64 { return r.Alone.Max }))}
	if client != ours {
		return append(rows, stamps)
	}
	stamps.target, stamps.verdict = stampTarget, verdictOf(p99 <= 0.1 && p999 <= 1)
	if voids == len(rounds) {
		stamps.verdict = void
	}
	return append(rows, stamps, row{measure: "  reads shared", figure: fmt.Sprintf("%.2f%% of the events, which are not in the line above; their stamp error: p99 %.3f, max %.3f ms",
		100*of(func(r pacedRound) float64 { return float64(r.Shared.Events) / float64(r.Shared.Events+r.Alone.Events) }),
		of(func(r pacedRound) float64 { return r.Shared.P99 }),
		of(func(r pacedRound) float64 { return r.Shared.Max }))})
}
