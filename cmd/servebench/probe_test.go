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
