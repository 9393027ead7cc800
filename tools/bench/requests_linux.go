package main

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/servebench/servebench/loadgen"
)

// startConnections is how many requests are under way while starts are counted.
const startConnections = 64

// starting counts request starts.
func (p *plan) starting() ([]row, error) {
	result, _, err := against[starts](p, 0, func(addr netip.AddrPort) job {
		return startsJob{Addr: addr, Requests: p.requests, Connections: startConnections}
	})
	if err != nil {
		return nil, err
	}
	perSecond := 1e9 / result.CPU
	return []row{{
		"request starts per second of one core",
		fmt.Sprintf("%.0f (%.1f µs of CPU each; %.0f a second over %d connections)", perSecond, result.CPU/1000, result.Rate, startConnections),
		"≥ 20000", atLeast(perSecond, 20_000),
	}}, nil
}

// holding measures what a long stream takes, and whether very many can be held.
func (p *plan) holding() ([]row, error) {
	few, err := p.hold(pacedStreams, 2*time.Second, step)
	if err != nil {
		return nil, err
	}
	rows := []row{{"memory per long stream", fmt.Sprintf("%.1f KiB each of %d", few.Memory/1024, pacedStreams), "≤ 64 KiB", atMost(few.Memory/1024, 64)}}
	many := row{fmt.Sprintf("%d streams in one process", manyStreams), "not in quick mode", "no error", void}
	if p.quick {
		return append(rows, many), nil
	}
	if err := loadgen.CheckSockets(manyStreams); err != nil {
		many.figure = err.Error()
		return append(rows, many), nil
	}
	result, err := p.hold(manyStreams, 10*time.Second, time.Second/2)
	if err != nil {
		return nil, err
	}
	many.verdict = verdictOf(result.Failed == 0)
	many.figure = fmt.Sprintf("%d failed, %.1f KiB each", result.Failed, result.Memory/1024)
	if result.Failed > 0 {
		many.figure += ": " + result.First
	}
	return append(rows, many), nil
}

const manyStreams = 10_000

func (p *plan) hold(streams int, length, itl time.Duration) (held, error) {
	result, _, err := against[held](p, itl, func(addr netip.AddrPort) job {
		return streamsJob{addr, streams, int(length / itl)}
	})
	return result, err
}

// lagging measures how late requests are sent that are due at a time.
func (p *plan) lagging() ([]row, error) {
	var rows []row
	add := func(name string, l lag) {
		rows = append(rows, row{
			name, fmt.Sprintf("p50 %.3f, p99 %.3f ms", l.P50, l.P99),
			"≤ 0.1, ≤ 2 ms", verdictOf(l.P50 <= 0.1 && l.P99 <= 2),
		})
	}
	for _, rate := range []int{1000, 5000, 10_000} {
		l, err := measure[lag](anyCPU, lagJob{Rate: rate, Seconds: p.lagSeconds})
		if err != nil {
			return nil, err
		}
		add(fmt.Sprintf("%d a second", rate), l)
	}
	anywhere := *p
	anywhere.clientCPU, anywhere.serverCPU = anyCPU, anyCPU
	l, _, err := against[lag](&anywhere, 0, func(addr netip.AddrPort) job {
		return lagJob{Addr: addr, Rate: 1000, Seconds: p.lagSeconds}
	})
	if err != nil {
		return nil, err
	}
	add("1000 a second to a server", l)
	return rows, nil
}
