package loadgen

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

func TestProbesBeginWithTheMeasuredPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		var sent []time.Duration
		send := func(context.Context, time.Time, *engine.Request, *record.Record) iter.Seq2[engine.Chunk, error] {
			sent = append(sent, time.Since(epoch))
			return func(func(engine.Chunk, error) bool) {}
		}
		header := &metrics.Header{Epoch: epoch, Delay: time.Second, WarmUp: 2 * time.Second}
		p := probes{prober: &engine.Prober{Target: engine.Target{Send: send}, Request: new(engine.Request), Pause: 4 * time.Second}}
		done := make(chan struct{})
		time.AfterFunc(5*time.Second, func() { close(done) })
		p.send(t.Context(), header.Epoch.Add(header.Began()), done)
		if took := time.Since(epoch); len(sent) != 1 || sent[0] != 3*time.Second || took != 7*time.Second {
			t.Errorf("probes at %v, until %v", sent, took)
		}
	})
}

// A load that has ended leaves at most one probe in flight, which may never be answered.
func TestLastProbeEndsWithTheRunsLimits(t *testing.T) {
	hanging := func(ctx context.Context, _ time.Time, _ *engine.Request, _ *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(func(engine.Chunk, error) bool) { <-ctx.Done() }
	}
	for _, row := range []struct {
		limits Limits
		cut    error
		want   time.Duration // with a load that takes 5 s
	}{
		{Limits{Deadline: 8 * time.Second}, nil, 8 * time.Second},
		{Limits{Deadline: 8 * time.Second, Tail: time.Second}, nil, 6 * time.Second},
		{Limits{Deadline: 8 * time.Second, Tail: time.Minute}, nil, 8 * time.Second},
		{Limits{Deadline: 8 * time.Second, Tail: time.Minute}, context.Canceled, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			b := &measurement{
				prepared: &prepared{voice: voice{plan: &Plan{Limits: row.limits}}}, header: &metrics.Header{Epoch: begin},
				probes: probes{prober: &engine.Prober{Target: engine.Target{Send: hanging}, Request: new(engine.Request)}},
			}
			last, stop := (&measure{targets: []*measurement{b}}).startProbes(t.Context())
			if err := engine.Sleep(t.Context(), begin.Add(5*time.Second)); err != nil {
				t.Fatal(err)
			}
			last()
			if stop(row.cut); time.Since(begin) != row.want || b.probes.results != nil {
				t.Errorf("%+v: it ended after %v with %+v, want %v", row.limits, time.Since(begin), b.probes.results, row.want)
			}
		})
	}
}

// The probe ends only when it is told that the load has, and that is after the
// duration is known.
func TestLastProbeIsNoPartOfTheDuration(t *testing.T) {
	// The server answers nothing before the probe is there, or the load might end first.
	var measuring atomic.Bool
	probing := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if measuring.Load() && r.Method == http.MethodPost {
			<-probing
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	p := plan(t, prompts(3), func(p *Plan) { p.Traffic.ProbeRate, p.Limits.Tail, p.Server.BaseURL = 1, 1, server.URL })
	b := ready(t, p)
	var ended time.Time
	b.server.sendProbe = func(ctx context.Context, _ time.Time, _ *engine.Request, _ *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(func(engine.Chunk, error) bool) {
			close(probing)
			<-ctx.Done()
			ended = time.Now()
		}
	}
	measuring.Store(true)
	m, sums, err := measuredAlone(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if probed := ended.Sub(m.header.Epoch).Seconds(); sums[0].When.Seconds >= probed {
		t.Errorf("a duration of %v s, and a probe until %v s", sums[0].When.Seconds, probed)
	}
}
