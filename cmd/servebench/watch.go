package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/servebench/servebench/loadgen"
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
		smi := loadgen.NvidiaSMI{Only: b.Watch.GPUs}
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

// openSampler finds out whether the server tells what it does, if that is asked
// for: the first of several shards asks. It is asked over a connection of its own, for which the load need not wait.
func (b *bench) openSampler(ctx context.Context) {
	if !b.Watch.Server || b.Shard.Index > 0 {
		return
	}
	transport := b.transport.Apart()
	server := b.server.With(transport, b.server.Limit)
	_, err := server.ServerSample(ctx)
	if f, ok := errors.AsType[*loadgen.Failure](err); ok && f.Class == metrics.Status {
		b.say("WARNING: --server-metrics: %s: it is not asked again", b.Server.Secrets.mask(err.Error()))
		return
	}
	b.sampler = closing(transport, loadgen.SampleServer(server, b.Watch.Every))
}

// closing is a sampler that leaves no connection behind.
func closing(t *loadgen.Transport, sample loadgen.Sampler) loadgen.Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*metrics.Sample)) {
		defer t.CloseIdleConnections()
		sample(ctx, epoch, take)
	}
}

// watch begins to sample.
func (t *trial) watch(epoch time.Time) {
	if t.gpuSampler != nil {
		t.gpus = loadgen.StartWatch(epoch, t.gpuSampler)
	}
	for _, b := range t.benches {
		if b.sampler != nil {
			b.watch = loadgen.StartWatch(epoch, b.sampler)
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
		for _, s := range b.watch.Drain() {
			s.Error = b.Server.Secrets.mask(s.Error)
			keep(b, s)
		}
	}
}

// unwatch ends the sampling.
func (t *trial) unwatch() {
	t.gpus.Stop()
	for _, b := range t.benches {
		b.watch.Stop()
	}
	t.drain(func(collect func()) { collect() })
}

// troubles say what was wrong with the samples of b.
func (t *trial) troubles(b *bench) (said []string) {
	if text := b.watch.Trouble(); text != "" {
		said = append(said, "--server-metrics: "+b.Server.Secrets.mask(text))
	}
	if text := t.gpus.Trouble(); text != "" {
		said = append(said, "--gpu-metrics: "+text)
	}
	return said
}
