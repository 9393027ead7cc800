package loadgen

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
)

// shortest is the smallest request that there is, which vLLM's client probes with.
func (t *target) shortest() (*engine.Request, error) {
	return t.to.Encode(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: "Hi", PromptLen: 1, OutputLen: 1}}}, 0)
}

// probing says whether probes are sent. Of several shards one does.
func (t *target) probing() bool { return t.Traffic.ProbeRate > 0 && t.Shard.Index == 0 }

// newProber makes what sends the probes; nil for none.
func (t *target) newProber() (*engine.Prober, error) {
	if !t.probing() {
		return nil, nil
	}
	req, err := t.shortest()
	to := t.to
	to.Send = t.sendProbe
	pause := min(1/t.Traffic.ProbeRate, math.MaxInt64/2e9)
	return &engine.Prober{Target: to, Request: req, Pause: time.Duration(pause * float64(time.Second))}, err
}

// probe sends probes, if any were asked for, from the beginning of the measured part
// of the run until done is closed.
func (t *target) probe(ctx context.Context, done <-chan struct{}) {
	if t.prober == nil || engine.Sleep(ctx, t.header.Epoch.Add(t.header.Began())) != nil {
		return
	}
	t.probes = t.prober.Probe(ctx, done)
}

// startProbes has the targets send their probes until stop is called, which waits
// for the probe in flight and the pause after it, as vLLM's client does since 0.33.0
// when it knows the duration of the load. The probe in flight ends as the
// requests of its load do: within the limit for those, at the run's deadline, and at
// once where the load was cut.
func (tr *trial) startProbes(ctx context.Context) (stop func(cut error)) {
	var probing sync.WaitGroup
	var quits []context.CancelFunc
	done := make(chan struct{})
	for _, t := range tr.targets {
		ctx, quit := context.WithCancel(ctx)
		quits = append(quits, quit)
		probing.Go(func() { t.probe(ctx, done) })
	}
	return func(cut error) {
		close(done)
		for i, quit := range quits {
			defer quit()
			t := tr.targets[i]
			if cut != nil {
				quit()
			}
			if limit := t.Limits.Tail; limit > 0 {
				defer time.AfterFunc(limit, quit).Stop()
			}
			if limit := t.Limits.Deadline; limit > 0 {
				defer time.AfterFunc(time.Until(t.header.Epoch.Add(limit)), quit).Stop()
			}
		}
		probing.Wait()
	}
}

// probesSent is how many there were.
func (t *target) probesSent() int {
	if t.probes == nil {
		return 0
	}
	return t.probes.Completed + t.probes.Failed
}
