package loadgen

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// shortest is the smallest possible request, which vLLM's client uses as its probe.
func shortest() dataset.Turn { return dataset.Turn{Prompt: "Hi", PromptLen: 1, OutputLen: 1} }

// probes are sent one after the other during the measured part of a load.
type probes struct {
	prober  *engine.Prober  // nil without probes
	results *metrics.Probes // nil until one was sent
}

// probed is the turn of a probe. Like vLLM's client, it has the members that the first request of the
// dataset sets. A Source of the caller's is not read twice.
func (t *prepared) probed() (dataset.Turn, error) {
	turn := shortest()
	if t.plan.Workload.Source != nil {
		return turn, nil
	}
	first, err := t.first()
	if err == nil && first.Turns[0].Payload != nil && first.Turns[0].Payload.Members != nil {
		turn.Payload = &dataset.Payload{Members: first.Turns[0].Payload.Members}
	}
	return turn, err
}

// prober sends the probes; nil if there are none.
func (t *prepared) prober() (*engine.Prober, error) {
	if !t.plan.Traffic.Probes(&t.plan.Shard) {
		return nil, nil
	}
	turn, err := t.probed()
	if err != nil {
		return nil, err
	}
	req, err := t.to.Encode(&dataset.Conversation{Turns: []dataset.Turn{turn}}, 0, nil)
	to := t.to
	to.Send = t.server.sendProbe
	pause := min(1/t.plan.Traffic.ProbeRate, math.MaxInt64/2e9)
	return &engine.Prober{Target: to, Request: req, Pause: time.Duration(pause * float64(time.Second))}, err
}

// send sends probes, if there are any, from an instant on until done is closed.
func (p *probes) send(ctx context.Context, from time.Time, done <-chan struct{}) {
	if p.prober == nil || engine.Sleep(ctx, from) != nil {
		return
	}
	p.results = p.prober.Probe(ctx, done)
}

// sent is the number of probes sent.
func (p *probes) sent() int {
	if p.results == nil {
		return 0
	}
	return p.results.Completed + p.results.Failed
}

// startProbes starts the probes of all targets. No probe begins after a call of last. Calling stop then waits for the
// probe in flight and the pause after it, as vLLM's client does since 0.33.0 when it knows the duration of
// the load. The probe in flight has the same limits as the load: the requests' limit, the run's
// deadline, and it ends at once if the load was cut.
func (s *measure) startProbes(ctx context.Context) (last func(), stop func(cut error)) {
	var probing sync.WaitGroup
	var quits []context.CancelFunc
	done := make(chan struct{})
	for _, m := range s.targets {
		ctx, quit := context.WithCancel(ctx)
		quits = append(quits, quit)
		probing.Go(func() { m.probes.send(ctx, m.header.Epoch.Add(m.header.Began()), done) })
	}
	return func() { close(done) }, func(cut error) {
		for i, quit := range quits {
			defer quit()
			m := s.targets[i]
			if cut != nil {
				quit()
			}
			if limit := m.plan.Limits.Tail; limit > 0 {
				defer time.AfterFunc(limit, quit).Stop()
			}
			if limit := m.plan.Limits.Deadline; limit > 0 {
				defer time.AfterFunc(time.Until(m.header.Epoch.Add(limit)), quit).Stop()
			}
		}
		probing.Wait()
	}
}
