package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/selftest"
)

const (
	// pacedStreams burst together, by selftest.Steps every 25 ms.
	pacedStreams = 1024
	stampTarget  = "p99 ≤ 0.1, p99.9 ≤ 1 ms"
)

// pacing compares the clients at streams that burst together in steps, with client and server on
// separate CPUs.
func (p *plan) pacing() ([]row, error) {
	if p.clientCPU == p.serverCPU {
		return []row{{"stamp error", "not measured: client and server have one CPU together", stampTarget, void}}, nil
	}
	clients := []string{ours, goOpenAI, plain}
	rounds := make(map[string][]selftest.Row)
	for range p.pacedRounds {
		for _, client := range clients {
			r, err := p.load(loadJob{Client: client, Streams: pacedStreams, Time: p.paced})
			if err != nil {
				return nil, err
			}
			rounds[client] = append(rounds[client], r)
		}
	}
	var rows []row
	for _, client := range clients {
		rows = append(rows, pacedRows(client, rounds[client])...)
	}
	return rows, nil
}

// pacedRows shows one client's round with the median stamp error. Void rounds count only if all are
// void, and then have no verdict.
func pacedRows(client string, all []selftest.Row) []row {
	rounds, voids, judge := counting(all, func(r selftest.Row) bool { return r.Void != "" })
	slices.SortFunc(rounds, func(a, b selftest.Row) int { return cmp.Compare(a.Alone.P99, b.Alone.P99) })
	r := rounds[len(rounds)/2]
	errors := func(s selftest.Spread) string {
		return fmt.Sprintf("p50 %.3f, p99 %.3f, p99.9 %.3f, max %.3f ms", s.P50/1000, s.P99/1000, s.P999/1000, s.Max/1000)
	}
	rows := []row{
		{measure: client, figure: fmt.Sprintf("%.0f ns of CPU an event; others took %.0f %% of a core; %s; server late at %.1f %%",
			1000*r.CPU, known(r.Others), voids, r.Late)},
		{measure: "  stamp error", figure: errors(r.Alone)},
	}
	if client != ours {
		return rows
	}
	rows[1].target, rows[1].verdict = stampTarget, judge(r.Alone.P99 <= 100 && r.Alone.P999 <= 1000)
	return append(rows, row{measure: "  reads shared",
		figure: fmt.Sprintf("%.2f %% of the events, which are not in the line above; stamp error with them: %s", r.Shared, errors(r.Stamp))})
}

// startsOfMany takes the rows with many starting streams from a whole selftest.
func (p *plan) startsOfMany() ([]row, error) {
	if p.quick {
		return []row{{"1024 streams at once, and Poisson", "not in quick mode: see servebench selftest", "", void}}, nil
	}
	result := selftest.NewResult("bench")
	loads, err := selftest.Loads([]int{64, 256, 1024, 2048, 4096}, 4*time.Second)
	if err != nil {
		return nil, err
	}
	err = result.Measure(context.Background(), loads, selftest.Program(p.program), func(*selftest.Load) {})
	return startRows(result), err
}

// startRows are a selftest's rows in which many streams start, with the error of its figures in
// either direction.
func startRows(s *selftest.Result) []row {
	off := func(p selftest.Pair) float64 { return max(p.Measured-p.True, p.True-p.Measured) }
	var rows []row
	for _, r := range s.Rows {
		mean, p99, itl := off(r.MeanTTFT), off(r.P99TTFT), off(r.P99ITL)
		var add row
		switch r.Load {
		case "at-once":
			add = row{"1024 at once: TTFT against the truth", fmt.Sprintf("mean %.2f ms off, p99 %.2f ms off", mean, p99), "≤ 2, ≤ 10 ms", verdictOf(mean <= 2 && p99 <= 10)}
		case "poisson":
			add = row{"Poisson to 1024: against the truth", fmt.Sprintf("mean TTFT %.2f ms off, p99 ITL %.2f ms off", mean, itl), "≤ 1, ≤ 1 ms", verdictOf(mean <= 1 && itl <= 1)}
		default:
			continue
		}
		if r.Failed > 0 {
			add.figure, add.verdict = fmt.Sprintf("%s; %d requests failed", add.figure, r.Failed), missed
		}
		if r.Void != "" {
			add.figure, add.verdict = add.figure+"; "+r.Void, void
		}
		rows = append(rows, add)
	}
	return append(rows, row{measure: "numbers can be trusted up to", figure: fmt.Sprintf("%d streams", s.TrustedStreams)})
}
