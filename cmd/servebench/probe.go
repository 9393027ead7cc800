package main

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
)

// shortest is the smallest request that there is, which vLLM's client probes with.
func (b *bench) shortest() (*engine.Request, error) {
	return b.target.Encode(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: "Hi", PromptLen: 1, OutputLen: 1}}}, 0)
}

// probing says whether probes are sent. Of several shards one does.
func (b *bench) probing() bool { return b.Traffic.ProbeRate > 0 && b.Shard.Index == 0 }

// newProber makes what sends the probes; nil for none.
func (b *bench) newProber() (*engine.Prober, error) {
	if !b.probing() {
		return nil, nil
	}
	req, err := b.shortest()
	target := b.target
	target.Send = b.sendProbe
	pause := min(1/b.Traffic.ProbeRate, math.MaxInt64/2e9)
	return &engine.Prober{Target: target, Request: req, Pause: time.Duration(pause * float64(time.Second))}, err
}

// probe sends probes, if any were asked for, from the beginning of the measured part
// of the run until done is closed.
func (b *bench) probe(ctx context.Context, done <-chan struct{}) {
	if b.prober == nil || engine.Sleep(ctx, b.header.Epoch.Add(b.header.Began())) != nil {
		return
	}
	b.probes = b.prober.Probe(ctx, done)
}

// startProbes has the benches send their probes until stop is called, which waits
// for the probe in flight and the pause after it, as vLLM's client does since 0.33.0
// when it knows the duration of the load. The probe in flight ends as the
// requests of its load do: within the limit for those, at the run's deadline, and at
// once where the load was cut.
func (t *trial) startProbes(ctx context.Context) (stop func(cut error)) {
	var probing sync.WaitGroup
	var quits []context.CancelFunc
	done := make(chan struct{})
	for _, b := range t.benches {
		ctx, quit := context.WithCancel(ctx)
		quits = append(quits, quit)
		probing.Go(func() { b.probe(ctx, done) })
	}
	return func(cut error) {
		close(done)
		for i, quit := range quits {
			defer quit()
			b := t.benches[i]
			if cut != nil {
				quit()
			}
			if limit := b.Limits.Tail; limit > 0 {
				defer time.AfterFunc(limit, quit).Stop()
			}
			if limit := b.Limits.Deadline; limit > 0 {
				defer time.AfterFunc(time.Until(b.header.Epoch.Add(limit)), quit).Stop()
			}
		}
		probing.Wait()
	}
}

// probesSent is how many there were.
func (b *bench) probesSent() int {
	if b.probes == nil {
		return 0
	}
	return b.probes.Completed + b.probes.Failed
}
