package engine

import (
	"context"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/record"
)

// A Prober repeats a small request during a load, one at a time and outside any limit on
// concurrency, as vLLM's client does with --probe-request-rate.
type Prober struct {
	Target  Target
	Request *Request
	Pause   time.Duration // after each answer
}

// Probe sends probes until done is closed and the pause after the last answer is over, or until ctx
// ends, which cuts the probe in flight. It sums up the probes that were not cut; nil if there are
// none.
func (p *Prober) Probe(ctx context.Context, done <-chan struct{}) *metrics.Probes {
	var took []time.Duration
	failed := 0
	for {
		select {
		case <-done:
			return probes(took, failed)
		default:
		}
		rec := p.Target.Once(ctx, p.Request)
		switch {
		case ctx.Err() != nil:
			return probes(took, failed)
		case rec.Result.Class == record.OK:
			took = append(took, rec.E2EL())
		default:
			failed++
		}
		if Sleep(ctx, time.Now().Add(p.Pause)) != nil {
			return probes(took, failed)
		}
	}
}

// probes sums up E2EL, with numpy's percentiles, as vLLM's client does.
func probes(took []time.Duration, failed int) *metrics.Probes {
	n := len(took)
	if n+failed == 0 {
		return nil
	}
	p := &metrics.Probes{Completed: n, Failed: failed}
	if n == 0 {
		return p
	}
	seconds := make([]float64, n)
	for i, d := range took {
		seconds[i] = d.Seconds()
	}
	slices.Sort(seconds)
	p.Median, p.P99, p.Max = numpy.Median(seconds)*1e3, numpy.Percentile(seconds, 99)*1e3, seconds[n-1]*1e3
	return p
}
