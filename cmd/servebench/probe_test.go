package main

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

func TestProbesBeginWithTheMeasuredPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		var sent []time.Duration
		send := func(context.Context, time.Time, *loadgen.Request, *metrics.Record) iter.Seq2[loadgen.Chunk, error] {
			sent = append(sent, time.Since(epoch))
			return func(func(loadgen.Chunk, error) bool) {}
		}
		b := &bench{
			header: &metrics.Header{Epoch: epoch, Delay: time.Second, WarmUp: 2 * time.Second},
			prober: &loadgen.Prober{Target: loadgen.Target{Send: send}, Request: new(loadgen.Request), Pause: 4 * time.Second},
		}
		done := make(chan struct{})
		time.AfterFunc(5*time.Second, func() { close(done) })
		b.probe(t.Context(), done)
		if len(sent) != 1 || sent[0] != 3*time.Second || b.probed != 7*time.Second {
			t.Errorf("probes at %v, until %v", sent, b.probed)
		}
	})
}

// A load that has ended leaves at most one probe in flight, which may never be answered.
func TestLastProbeEndsWithTheRunsLimits(t *testing.T) {
	hanging := func(ctx context.Context, _ time.Time, _ *loadgen.Request, _ *metrics.Record) iter.Seq2[loadgen.Chunk, error] {
		return func(func(loadgen.Chunk, error) bool) { <-ctx.Done() }
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
				prober: &loadgen.Prober{Target: loadgen.Target{Send: hanging}, Request: new(loadgen.Request)},
			}
			stop := (&trial{benches: []*bench{b}}).startProbes(t.Context())
			if err := loadgen.Sleep(t.Context(), begin.Add(5*time.Second)); err != nil {
				t.Fatal(err)
			}
			if stop(row.cut); time.Since(begin) != row.want || b.probes != nil {
				t.Errorf("%+v: it ended after %v with %+v, want %v", row.limits, time.Since(begin), b.probes, row.want)
			}
		})
	}
}
