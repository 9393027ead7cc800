package loadgen

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
)

// shortest is the smallest possible request, which vLLM's client uses as its probe.
func shortest() dataset.Turn { return dataset.Turn{Prompt: "Hi", PromptLen: 1, OutputLen: 1} }

// unprobed is the error of a plan with probes that its API cannot take.
func (p *Plan) unprobed() error {
	hi := shortest()
	if err := p.Server.API().Fits(&hi); err != nil {
		return fmt.Errorf("argument --probe-request-rate: a probe sends the prompt %s: %w", hi.Prompt, err)
	}
	return nil
}

// probing reports whether this process sends probes. Only one shard does.
func (t *target) probing() bool { return t.Traffic.ProbeRate > 0 && t.Shard.Index == 0 }

// probed is the turn of a probe. Like vLLM's client, it has the members that the first request of the
// dataset sets. A Source of the caller's is not read twice.
func (t *target) probed() (dataset.Turn, error) {
	turn := shortest()
	if t.Workload.Source != nil {
		return turn, nil
	}
	first, err := t.first()
	if err == nil && first.Turns[0].Payload != nil && first.Turns[0].Payload.Members != nil {
		turn.Payload = &dataset.Payload{Members: first.Turns[0].Payload.Members}
	}
	return turn, err
}

// newProber returns what sends the probes; nil if there are none.
func (t *target) newProber() (*engine.Prober, error) {
	if !t.probing() {
		return nil, nil
	}
	turn, err := t.probed()
	if err != nil {
		return nil, err
	}
	req, err := t.to.Encode(&dataset.Conversation{Turns: []dataset.Turn{turn}}, 0, nil)
	to := t.to
	to.Send = t.sendProbe
	pause := min(1/t.Traffic.ProbeRate, math.MaxInt64/2e9)
	return &engine.Prober{Target: to, Request: req, Pause: time.Duration(pause * float64(time.Second))}, err
}

// probe sends probes, if the plan asks for them, from the beginning of the measured part until done
// is closed.
func (t *target) probe(ctx context.Context, done <-chan struct{}) {
	if t.prober == nil || engine.Sleep(ctx, t.header.Epoch.Add(t.header.Began())) != nil {
		return
	}
	t.probes = t.prober.Probe(ctx, done)
}

// startProbes starts the probes of all targets. Calling stop ends them; it waits for the probe in
// flight and the pause after it, as vLLM's client does since 0.33.0 when it knows the duration of
// the load. The probe in flight has the same limits as the load: the requests' limit, the run's
// deadline, and it ends at once if the load was cut.
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

// probesSent is the number of probes sent.
func (t *target) probesSent() int {
	if t.probes == nil {
		return 0
	}
	return t.probes.Completed + t.probes.Failed
}
