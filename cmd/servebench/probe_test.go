package main

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

func TestProbesBeginWithTheMeasuredPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		var sent []time.Duration
		send := func(context.Context, time.Time, *engine.Request, *metrics.Record) iter.Seq2[engine.Chunk, error] {
			sent = append(sent, time.Since(epoch))
			return func(func(engine.Chunk, error) bool) {}
		}
		b := &bench{
			header: &metrics.Header{Epoch: epoch, Delay: time.Second, WarmUp: 2 * time.Second},
			prober: &engine.Prober{Target: engine.Target{Send: send}, Request: new(engine.Request), Pause: 4 * time.Second},
		}
		done := make(chan struct{})
		time.AfterFunc(5*time.Second, func() { close(done) })
		b.probe(t.Context(), done)
		if took := time.Since(epoch); len(sent) != 1 || sent[0] != 3*time.Second || took != 7*time.Second {
			t.Errorf("probes at %v, until %v", sent, took)
		}
	})
}

// A load that has ended leaves at most one probe in flight, which may never be answered.
func TestLastProbeEndsWithTheRunsLimits(t *testing.T) {
	hanging := func(ctx context.Context, _ time.Time, _ *engine.Request, _ *metrics.Record) iter.Seq2[engine.Chunk, error] {
		return func(func(engine.Chunk, error) bool) { <-ctx.Done() }
	}
	for _, row := range []struct {
		limits limitOptions
		cut    error
		want   time.Duration // with a load that takes 5 s
	}{
		{limitOptions{Deadline: 8 * time.Second}, nil, 8 * time.Second},
		{limitOptions{Deadline: 8 * time.Second, Tail: time.Second}, nil, 6 * time.Second},
		{limitOptions{Deadline: 8 * time.Second, Tail: time.Minute}, nil, 8 * time.Second},
		{limitOptions{Deadline: 8 * time.Second, Tail: time.Minute}, context.Canceled, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			b := &bench{
				options: &options{Limits: row.limits}, header: &metrics.Header{Epoch: begin},
				prober: &engine.Prober{Target: engine.Target{Send: hanging}, Request: new(engine.Request)},
			}
			stop := (&trial{benches: []*bench{b}}).startProbes(t.Context())
			if err := engine.Sleep(t.Context(), begin.Add(5*time.Second)); err != nil {
				t.Fatal(err)
			}
			if stop(row.cut); time.Since(begin) != row.want || b.probes != nil {
				t.Errorf("%+v: it ended after %v with %+v, want %v", row.limits, time.Since(begin), b.probes, row.want)
			}
		})
	}
}

// A server sees probes on a connection on which no other request comes, and the load
// has as many as it may have.
func TestProbesHaveAConnectionOfTheirOwn(t *testing.T) {
	var mu sync.Mutex
	by := map[bool]map[string]bool{true: {}, false: {}} // addresses of probes and of the load
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if isGeneration(wireCall{Path: r.URL.Path}) {
			mu.Lock()
			by[bytes.Contains(body, []byte(`"prompt": "Hi"`))][r.RemoteAddr] = true
			mu.Unlock()
		}
		new(wireRecorder).ServeHTTP(w, r)
	}))
	defer server.Close()
	o := mustParse(t, "--model m --tokenizer stub-100 --random-input-len 6 --num-prompts 20 --max-concurrency 2 --probe-request-rate 1e6 --disable-tqdm --base-url", server.URL)
	if err := newExperiment(o, io.Discard, io.Discard).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(by[true]) != 1 || len(by[false]) == 0 || len(by[false]) > 2 {
		t.Errorf("probes from %v, the load from %v", by[true], by[false])
	}
	for address := range by[true] {
		if by[false][address] {
			t.Errorf("%s had both", address)
		}
	}
}

// The probe ends only when it is told that the load has, and that is after the
// duration is known.
func TestLastProbeIsNoPartOfTheDuration(t *testing.T) {
	server := httptest.NewServer(new(wireRecorder))
	defer server.Close()
	o := mustParse(t, "--model m --tokenizer stub-100 --random-input-len 6 --num-prompts 3 --probe-request-rate 1 --drain-limit 1ns --base-url", server.URL)
	b := &bench{options: o, out: io.Discard, talk: io.Discard, patience: time.Minute, results: new(results)}
	if err := b.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ended time.Time
	b.sendProbe = func(ctx context.Context, _ time.Time, _ *engine.Request, _ *metrics.Record) iter.Seq2[engine.Chunk, error] {
		return func(func(engine.Chunk, error) bool) {
			<-ctx.Done()
			ended = time.Now()
		}
	}
	sums, err := (&trial{benches: []*bench{b}, talk: io.Discard}).measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if probed := ended.Sub(b.header.Epoch).Seconds(); sums[0].Seconds >= probed {
		t.Errorf("a duration of %v s, and a probe until %v s", sums[0].Seconds, probed)
	}
}
