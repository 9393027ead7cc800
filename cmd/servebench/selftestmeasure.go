package main

import (
	"context"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// measure puts the load on and says how right the numbers were.
func (l *selftestLoad) measure(ctx context.Context) (*selftestRow, error) {
	out := &loadOutcome{probes: newProbes(l.requests, l.tokens)}
	debug.FreeOSMemory() // what the row before needed is not this row's
	resident := residentBytes()

	began, machine, pulse := time.Now(), loadgen.ReadMachineCPU(), loadgen.StartPulse()
	err := l.put(ctx, out)
	machine = loadgen.ReadMachineCPU().Sub(machine)
	var whole metrics.Evidence
	pulse.Stop(&whole)
	window := time.Since(began)
	if err != nil {
		return nil, err
	}

	row := l.row(out)
	row.Clock = rounded(whole.ClockStep.Seconds() * 1000)
	if resident > 0 && out.resident > resident {
		row.RSS = new(rounded(float64(out.resident-resident) / 1024 / float64(l.streams)))
	}
	row.disturb(machine, whole.CPU+out.serverCPU, window)
	return row, l.compare(out.probes, row)
}

// row holds what needs no look into the events.
func (l *selftestLoad) row(out *loadOutcome) *selftestRow {
	e := &out.evidence
	events := e.KernelStamps + e.UserStamps
	row := &selftestRow{
		Name: l.name, Load: l.kind, Streams: l.streams, StepMS: l.server.ITL.Seconds() * 1000,
		Events: events, Failed: out.failed, Failure: out.failure,
	}
	if events == 0 {
		return row
	}
	n := float64(events)
	row.PerS = math.Round(n / out.took.Seconds())
	row.Kernel = rounded(100 * float64(e.KernelStamps) / n)
	row.Shared = rounded(100 * float64(e.SharedReads) / n)
	row.CPU = rounded(e.CPU.Seconds() * 1e6 / n)
	row.ServerCPU = rounded(out.serverCPU.Seconds() * 1e6 / n)
	row.Late = rounded(100 * float64(out.served.Late) / n)
	return row
}

// compare fills in what was measured against the truth.
func (l *selftestLoad) compare(probes []probe, row *selftestRow) error {
	var stamps, gaps, ttfts []float64 // errors, in microseconds
	var itl, trueITL, ttft, trueTTFT []float64
	for i := range probes {
		p := &probes[i]
		if p.err != nil {
			return p.err
		}
		if p.outOfBound() {
			row.Beyond++
		}
		for _, s := range p.samples[:p.n] {
			stamps = append(stamps, off(s.stamp, 0))
			gaps = append(gaps, off(s.gap, s.trueGap))
			itl, trueITL = append(itl, s.gap.Seconds()), append(trueITL, s.trueGap.Seconds())
		}
		if p.last.IsZero() {
			continue
		}
		ttfts = append(ttfts, off(p.ttft, p.trueTTFT))
		ttft, trueTTFT = append(ttft, p.ttft.Seconds()), append(trueTTFT, p.trueTTFT.Seconds())
	}
	row.Stamp, row.ITL, row.TTFT = newSpread(stamps), newSpread(gaps), newSpread(ttfts)
	if len(ttft) > 0 {
		row.MeanTTFT = pair{rounded(1000 * metrics.Mean(ttft)), rounded(1000 * metrics.Mean(trueTTFT))}
		row.P99TTFT = pair{p99(ttft), p99(trueTTFT)}
	}
	if len(itl) > 0 {
		row.P99ITL = pair{p99(itl), p99(trueITL)}
	}
	return nil
}

// off is how far a time is from the truth, in microseconds.
func off(measured, truth time.Duration) float64 {
	return float64((measured - truth).Abs()) / float64(time.Microsecond)
}

// p99 is in milliseconds, of seconds.
func p99(seconds []float64) float64 {
	slices.Sort(seconds)
	return rounded(1000 * metrics.Percentile(seconds, 99))
}
