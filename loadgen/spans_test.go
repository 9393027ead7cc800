package loadgen_test

import (
	"context"
	"math"
	"net"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/sim"
	simspans "github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/record"
)

// logged runs a trial whose server tells its times, and returns what the server logged by request id, too.
func (tr trial) logged(t *testing.T) (records []*record.Record, log map[string]simspans.Request, epoch time.Time) {
	t.Helper()
	var mu sync.Mutex
	log = map[string]simspans.Request{}
	tr.server.Answers.Timings = true
	tr.server.Log = func(r simspans.Request) {
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
	slow := simspans.Added{Queue: 5 * ms, Prefill: 6 * ms, FrontEnd: 7 * ms, Network: 8 * ms, Generation: 90 * ms}
	for name, test := range map[string]trial{
		"at a rate":              {num: 40, in: 100, out: 16, ratio: varied, arrivals: poisson(30, 7)},
		"with a limit":           {num: 40, in: 100, out: 16, ratio: varied, arrivals: poisson(80, 1), limit: 3},
		"queueing at the server": {num: 20, in: 300, out: 5, arrivals: atOnce, server: sim.Config{Limits: sim.Limits{NumSeqs: 3, NumBatchedTokens: 256}}},
		"chat":                   {num: 20, in: 30, out: 5, chat: true, arrivals: atOnce, limit: 4, server: sim.Config{Jitter: 0.3}},
		"of one token":           {num: 20, in: 30, out: 1, arrivals: atOnce, limit: 4},
		"speculative":            {num: 20, in: 30, out: 20, arrivals: atOnce, server: sim.Config{Speculative: steps.Speculative{Tokens: 3, Acceptance: 0.7}}},
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
					want := spans.Spans{
						spans.Slot: rec.Times.Slot - rec.Times.Due, spans.Connect: r.Received.Sub(epoch) - rec.Times.Sent,
						spans.ServerQueue: r.Scheduled.Sub(r.Queued), spans.Prefill: r.FirstToken.Sub(r.Scheduled),
						spans.Network: r.Queued.Sub(r.Received) + r.Wrote.Sub(r.FirstToken) + r.Network, spans.Generation: r.LastToken.Sub(r.FirstToken),
					}
					got, completed := spans.OfRequest(rec)
					if !completed || got != want {
						t.Errorf("%s: got %v, want %v", rec.ID, got, want)
					}
					if end := epoch.Add(rec.Times.End); !end.Equal(r.Ended.Add(r.Network)) {
						t.Errorf("%s ended at %v, and the server wrote its end at %v", rec.ID, end, r.Ended)
					}
				}
				if test.limit > 0 && records[test.num-1].Times.Slot == records[test.num-1].Times.Due {
					t.Error("the last request did not wait for a slot")
				}
			})
		})
	}
}

// grown is the span whose mean is longest compared with another run.
func grown(t *testing.T, before, after []*record.Record) (worst spans.Span, by float64) {
	t.Helper()
	means := func(records []*record.Record) *spans.Waterfall {
		c := aspect.Collector(&metrics.Header{})
		for _, rec := range records {
			c.Add(rec)
		}
		return spans.Of(c.Summary(1))
	}
	old, now := means(before), means(after)
	for span := range now.Spans.All() {
		if more := now.Mean(span) - old.Mean(span); more > by {
			worst, by = span, more
		}
	}
	return worst, by
}

// An added 5 ms is in the span to which it was added, 100 of 100 times with FULL=1, although the two
// servers draw different step times.
func TestAddedTimeIsFoundInItsSpan(t *testing.T) {
	seeds := uint64(2)
	switch {
	case os.Getenv("FULL") == "1":
		seeds = 20
	case testing.Short():
		seeds = 1
	}
	const added = 5 * time.Millisecond
	for name, row := range map[string]struct {
		slow simspans.Added
		want spans.Span
	}{
		"queue":      {simspans.Added{Queue: added}, spans.ServerQueue},
		"prefill":    {simspans.Added{Prefill: added}, spans.Prefill},
		"front end":  {simspans.Added{FrontEnd: added}, spans.Network},
		"network":    {simspans.Added{Network: added}, spans.Network},
		"generation": {simspans.Added{Generation: added}, spans.Generation},
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

// Without times by request, the waterfall has the means of the server's histograms.
func TestMeansOfSpansEqualWhatTheServerDid(t *testing.T) {
	var mu sync.Mutex
	var log []simspans.Request
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Limits: sim.Limits{NumSeqs: 2}, Log: func(r simspans.Request) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, r)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	web := httptest.NewServer(server)
	defer web.Close()
	slots := 4
	plan := loadgen.Plan{
		Server:   loadgen.Server{BaseURL: web.URL, Tokenizer: "stub-32000"},
		Workload: loadgen.Workload{NumPrompts: 20, Random: dataset.Random{InputLen: 20, OutputLen: 3}},
		Traffic:  loadgen.Traffic{MaxConcurrency: &slots},
	}
	sums, err := plan.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var queue, prefill time.Duration
	for _, r := range log {
		queue += r.Scheduled.Sub(r.Queued)
		prefill += r.FirstToken.Sub(r.Scheduled)
	}
	w := spans.Of(sums[0])
	if w.Counted != 20 || len(log) != 20 {
		t.Fatalf("the histograms have %d requests and the log %d, want 20", w.Counted, len(log))
	}
	for span, total := range map[spans.Span]time.Duration{spans.ServerQueue: queue, spans.Prefill: prefill} {
		if got, want := w.Mean(span), metrics.Milliseconds(total)/20; math.Abs(got-want) > 1e-5 || want == 0 {
			t.Errorf("the mean of %v is %v ms, want %v ms", span, got, want)
		}
	}
	var all time.Duration
	for _, took := range w.Spans.All() {
		all += took
	}
	if want := sums[0].E2EL.Mean(); math.Abs(metrics.Milliseconds(all-w.Spans[spans.Slot]-w.Spans[spans.Lag]-w.Spans[spans.Read])/20-want) > 1e-4 {
		t.Errorf("the spans from sent to the last chunk take %v together, and the mean E2EL is %v ms", all, want)
	}
}
