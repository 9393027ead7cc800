package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
)

// gpuEvery is how often GPUs are sampled.
const gpuEvery = time.Second

// nvidiaSMI is the path of nvidia-smi, empty where it is not asked for.
func (w *watchOptions) nvidiaSMI() (string, error) {
	if w.GPU != nvidiaSMI {
		return "", nil
	}
	path, err := exec.LookPath(nvidiaSMI)
	if err != nil {
		return "", fmt.Errorf("argument --gpu-metrics: %w: it may also be http://HOST:9400/metrics of a DCGM exporter", err)
	}
	return path, nil
}

// openGPUs finds out whether GPUs can be sampled, if that is asked for.
func (t *trial) openGPUs(ctx context.Context) (err error) {
	b := t.benches[0]
	if b.Watch.GPU == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	if b.Watch.GPU != nvidiaSMI {
		exporter := &loadgen.Server{URL: b.Watch.GPU, Limit: b.patience}
		transport := loadgen.Connections{Timeout: b.Limits.Connect}.Transport()
		exporter.Transport = transport
		_, err = exporter.GPUs(limited)
		t.gpuSampler = closing(transport, loadgen.SampleDCGM(exporter, gpuEvery))
	} else {
		smi := host.NvidiaSMI{Only: b.Watch.GPUs}
		if smi.Path, err = b.Watch.nvidiaSMI(); err != nil {
			return err
		}
		var gpus []metrics.GPUSample
		gpus, err = smi.GPUs(limited)
		t.gpuSampler = smi.Sample(len(gpus), gpuEvery)
	}
	if err != nil {
		return exitError{fmt.Errorf("--gpu-metrics: %w", err), exitNo}
	}
	return nil
}

// openSamplers finds out whether the server tells what it does, if that is asked
// for: the first of several shards asks. Of replicas that were named each has to.
func (b *bench) openSamplers(ctx context.Context) error {
	if !b.Watch.Server || b.Shard.Index > 0 {
		return nil
	}
	for _, r := range b.replicas() {
		_, err := r.ServerSample(ctx)
		if err != nil && r.name != "" {
			return exitError{fmt.Errorf("--server-metrics: %w", err), exitNo}
		}
		if f, ok := errors.AsType[*metrics.Failure](err); ok && f.Class == metrics.Status {
			b.say("WARNING: --server-metrics: %s: it is not asked again", b.Server.Secrets.mask(err.Error()))
			return nil
		}
		b.samplers = append(b.samplers, closing(r.transport, loadgen.SampleServer(r.Server, r.name, b.Watch.Every)))
	}
	return nil
}

// A replica is a server that is asked for its metrics over connections of its own, for
// which the load need not wait.
type replica struct {
	*loadgen.Server
	name      string // its URL, empty where none was named and it is the one under load
	transport *loadgen.Transport
}

// replicas are those that were named, or else the server under load.
func (b *bench) replicas() (all []replica) {
	for _, url := range b.Watch.URLs {
		transport := b.transport.Apart()
		all = append(all, replica{&loadgen.Server{URL: url, Header: b.server.Header, Transport: transport, Limit: b.server.Limit}, url, transport})
	}
	if all == nil {
		transport := b.transport.Apart()
		all = append(all, replica{b.server.With(transport, b.server.Limit), "", transport})
	}
	return all
}

// closing is a sampler that keeps no connection from one sample to the next: over the
// same one, a load balancer may give the same replica each time.
func closing(t *loadgen.Transport, sample host.Sampler) host.Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*metrics.Sample)) {
		sample(ctx, epoch, func(s *metrics.Sample) {
			t.CloseIdleConnections()
			take(s)
		})
	}
}

// watch begins to sample.
func (t *trial) watch(epoch time.Time) {
	if t.gpuSampler != nil {
		t.gpus = host.StartWatch(epoch, t.gpuSampler)
	}
	for _, b := range t.benches {
		for _, sampler := range b.samplers {
			b.watches = append(b.watches, host.StartWatch(epoch, sampler))
		}
	}
}

// drain records what was sampled so far, and has it collected.
func (t *trial) drain(do func(func())) {
	keep := func(b *bench, s *metrics.Sample) {
		b.results.sample(s)
		do(func() { b.collector.AddSample(s) })
	}
	for _, s := range t.gpus.Drain() {
		for _, b := range t.benches {
			keep(b, s)
		}
	}
	for _, b := range t.benches {
		for _, w := range b.watches {
			for _, s := range w.Drain() {
				s.Error = b.Server.Secrets.mask(s.Error)
				keep(b, s)
			}
		}
	}
}

// unwatch ends the sampling.
func (t *trial) unwatch() {
	t.gpus.Stop()
	for _, b := range t.benches {
		for _, w := range b.watches {
			w.Stop()
		}
	}
	t.drain(func(collect func()) { collect() })
}

// troubles say what was wrong with the samples of b.
func (t *trial) troubles(b *bench) (said []string) {
	for _, w := range b.watches {
		if text := w.Trouble(); text != "" {
			said = append(said, "--server-metrics: "+b.Server.Secrets.mask(text))
		}
	}
	if text := t.gpus.Trouble(); text != "" {
		said = append(said, "--gpu-metrics: "+text)
	}
	return said
}
