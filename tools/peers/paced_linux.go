package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/selftest"
	"github.com/servebench/servebench/tools/peers/reading"
)

const (
	// pacedStreams burst together, by selftest.Steps every 25 ms.
	pacedStreams = 1024
	stampTarget  = "p99 ≤ 0.1, p99.9 ≤ 1 ms"
)

// pacing compares the clients at streams that burst together in steps, with client and server on
// separate CPUs.
func (p *plan) pacing() ([]line, error) {
	if p.clientCPU == p.serverCPU {
		return []line{{"stamp error", "not measured: client and server have one CPU together", stampTarget, void}}, nil
	}
	clients := []string{ours, reading.GoOpenAI, reading.Plain}
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
	var lines []line
	for _, client := range clients {
		lines = append(lines, pacedLines(client, rounds[client])...)
	}
	return lines, nil
}

// pacedLines shows one client's round with the median stamp error. Void rounds count only if all are
// void, and then have no verdict.
func pacedLines(client string, all []selftest.Row) []line {
	rounds, voids, judge := counting(all, func(r selftest.Row) bool { return r.Void != "" })
	slices.SortFunc(rounds, func(a, b selftest.Row) int { return cmp.Compare(a.Alone.P99, b.Alone.P99) })
	r := rounds[len(rounds)/2]
	errors := func(s selftest.Spread) string {
		return fmt.Sprintf("p50 %.3f, p99 %.3f, p99.9 %.3f, max %.3f ms", s.P50/1000, s.P99/1000, s.P999/1000, s.Max/1000)
	}
	lines := []line{
		{measure: client, figure: fmt.Sprintf("%.0f ns of CPU an event; others took %.0f %% of a core; %s; server late at "+
			"%.1f %%",
			1000*r.CPU, valueOf(r.Others), voids, r.Late)},
		{measure: "  stamp error", figure: errors(r.Alone)},
	}
	if client != ours {
		return lines
	}
	lines[1].target, lines[1].verdict = stampTarget, judge(r.Alone.P99 <= 100 && r.Alone.P999 <= 1000)
	return append(lines, line{measure: "  reads shared",
		figure: fmt.Sprintf("%.2f %% of the events, which are not in the line above; stamp error with them: %s", r.Shared,
			errors(r.Stamp))})
}

// startsOfMany takes the rows with many starting streams from a whole selftest.
func (p *plan) startsOfMany() ([]line, error) {
	if p.quick {
		return []line{{"1024 streams at once, and Poisson", "not in quick mode: see servebench selftest", "", void}}, nil
	}
	result := selftest.NewResult("bench")
	loads, err := selftest.Loads([]int{64, 256, 1024, 2048, 4096}, 4*time.Second)
	if err != nil {
		return nil, err
	}
	err = result.Measure(context.Background(), loads, selftest.Program(p.program), func(*selftest.Load) {})
	return startLines(result), err
}

// startLines are a selftest's rows in which many streams start, with the error of its figures in
// either direction.
func startLines(s *selftest.Result) []line {
	off := func(p selftest.Pair) float64 { return max(p.Measured-p.True, p.True-p.Measured) }
	var lines []line
	for _, r := range s.Rows {
		mean, p99, itl := off(r.MeanTTFT), off(r.P99TTFT), off(r.P99ITL)
		var add line
		switch r.Load {
		case "at-once":
			add = line{"1024 at once: TTFT against the truth", fmt.Sprintf("mean %.2f ms off, p99 %.2f ms off", mean, p99),
				"≤ 2, ≤ 10 ms", verdictOf(mean <= 2 && p99 <= 10)}
		case "poisson":
			add = line{"Poisson to 1024: against the truth",
				fmt.Sprintf("mean TTFT %.2f ms off, p99 ITL %.2f ms off", mean, itl), "≤ 1, ≤ 1 ms",
				verdictOf(mean <= 1 && itl <= 1)}
		default:
			continue
		}
		if r.Failed > 0 {
			add.figure, add.verdict = fmt.Sprintf("%s; %d requests failed", add.figure, r.Failed), missed
		}
		if r.Void != "" {
			add.figure, add.verdict = add.figure+"; "+r.Void, void
		}
		lines = append(lines, add)
	}
	return append(lines, line{measure: "numbers can be trusted up to",
		figure: fmt.Sprintf("%d streams", s.TrustedStreams)})
}
