package loadgen_test

import (
	"context"
	"math"
	"net"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/metrics"
)

// logged runs a trial whose server tells its times, and returns what the server logged by request id, too.
func (tr trial) logged(t *testing.T) (records []*metrics.Record, log map[string]spans.Request, epoch time.Time) {
	t.Helper()
	var mu sync.Mutex
	log = map[string]spans.Request{}
	tr.server.PerRequestMetrics = true
	tr.server.Log = func(r spans.Request) {
		mu.Lock()
		defer mu.Unlock()
		log[r.ID] = r
	}
	records, _, epoch, _ = tr.run(t)
	return records, log, epoch
}

// dialing makes opening a connection take that long, and reports it as net.Dialer does.
func dialing(took time.Duration) func(dialer) dialer {
	return func(dial dialer) dialer {
		return func(ctx context.Context, network, addr string) (net.Conn, error) {
			trace := httptrace.ContextClientTrace(ctx)
			trace.ConnectStart(network, addr)
			time.Sleep(took)
			trace.ConnectDone(network, addr, nil)
			return dial(ctx, network, addr)
		}
	}
}

// In fake time nothing but the server and the dialer takes time, so all spans are exact.
func TestSpansEqualWhatTheServerDid(t *testing.T) {
	const ms = time.Millisecond
	atOnce := arrivals.Process{Rate: math.Inf(1), Burstiness: 1}
	varied := dataset.RangeRatio{Input: 0.5, Output: 0.5}
	slow := spans.Added{Queue: 5 * ms, Prefill: 6 * ms, FrontEnd: 7 * ms, Network: 8 * ms, Generation: 90 * ms}
	for name, test := range map[string]trial{
		"at a rate":              {num: 40, in: 100, out: 16, ratio: varied, arrivals: poisson(30, 7)},
		"with a limit":           {num: 40, in: 100, out: 16, ratio: varied, arrivals: poisson(80, 1), limit: 3},
		"queueing at the server": {num: 20, in: 300, out: 5, arrivals: atOnce, server: sim.Config{MaxNumSeqs: 3, MaxNumBatchedTokens: 256}},
		"chat":                   {num: 20, in: 30, out: 5, chat: true, arrivals: atOnce, limit: 4, server: sim.Config{Jitter: 0.3}},
		"of one token":           {num: 20, in: 30, out: 1, arrivals: atOnce, limit: 4},
		"speculative":            {num: 20, in: 30, out: 20, arrivals: atOnce, server: sim.Config{Speculative: sim.Speculative{Tokens: 3, Acceptance: 0.7}}},
		"slow in all spans":      {num: 40, in: 100, out: 16, ratio: varied, arrivals: poisson(80, 1), limit: 9, server: sim.Config{FrontEnd: 2 * ms, Slow: slow}},
		"slow to connect":        {num: 20, in: 30, out: 5, arrivals: poisson(30, 7), through: dialing(4 * ms), server: sim.Config{FrontEnd: 2 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				records, log, epoch := test.logged(t)
				if len(records) != test.num || len(log) != test.num {
					t.Fatalf("%d records and %d in the log, want %d", len(records), len(log), test.num)
				}
				for _, rec := range records {
					r := log[rec.ID]
					want := metrics.Spans{
						metrics.SpanSlot: rec.Slot - rec.Due, metrics.SpanConnect: r.Received.Sub(epoch) - rec.Sent,
						metrics.SpanServerQueue: r.Scheduled.Sub(r.Queued), metrics.SpanPrefill: r.FirstToken.Sub(r.Scheduled),
						metrics.SpanNetwork: r.FrontEnd() + r.Network, metrics.SpanGeneration: r.LastToken.Sub(r.FirstToken),
					}
					got, completed := rec.Spans()
					if !completed || got != want {
						t.Errorf("%s: got %v, want %v", rec.ID, got, want)
					}
					if end := epoch.Add(rec.End); !end.Equal(r.Ended.Add(r.Network)) {
						t.Errorf("%s ended at %v, and the server wrote its end at %v", rec.ID, end, r.Ended)
					}
				}
				if test.limit > 0 && records[test.num-1].Slot == records[test.num-1].Due {
					t.Error("the last request did not wait for a slot")
				}
			})
		})
	}
}

// grown is the span whose mean is longest compared with another run.
func grown(t *testing.T, before, after []*metrics.Record) (worst metrics.Span, by float64) {
	t.Helper()
	means := func(records []*metrics.Record) *metrics.Waterfall {
		c := metrics.NewCollector(&metrics.Header{})
		for _, rec := range records {
			c.Add(rec)
		}
		return c.Summary(1).Waterfall()
	}
	old, now := means(before), means(after)
	for span := range now.Spans.All() {
		if more := now.Mean(span) - old.Mean(span); more > by {
			worst, by = span, more
		}
	}
	return worst, by
}

// An added 5 ms is in the span to which it was added, 100 of 100 times, although the two servers draw
// different step times.
func TestAddedTimeIsFoundInItsSpan(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 2
	}
	const added = 5 * time.Millisecond
	for name, row := range map[string]struct {
		slow spans.Added
		want metrics.Span
	}{
		"queue":      {spans.Added{Queue: added}, metrics.SpanServerQueue},
		"prefill":    {spans.Added{Prefill: added}, metrics.SpanPrefill},
		"front end":  {spans.Added{FrontEnd: added}, metrics.SpanNetwork},
		"network":    {spans.Added{Network: added}, metrics.SpanNetwork},
		"generation": {spans.Added{Generation: added}, metrics.SpanGeneration},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds {
				synctest.Test(t, func(t *testing.T) {
					tr := trial{num: 100, in: 200, out: 16, arrivals: poisson(20, int64(seed)), server: sim.Config{Jitter: 0.02, Seed: seed}}
					before, _, _ := tr.logged(t)
					tr.server.Seed, tr.server.Slow = seed+1000, row.slow
					after, _, _ := tr.logged(t)
					if span, by := grown(t, before, after); span != row.want || math.Abs(by-5) > 1 {
						t.Errorf("seed %d: %v is %.3f ms longer, want %v, 5 ms", seed, span, by, row.want)
					}
				})
			}
		})
	}
}
