package loadgen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// The settings that ask for samples.
const (
	serverSetting = "--server-metrics"
	poolSetting   = "--kvcached-metrics"
	gpuSetting    = "--gpu-metrics"
)

// gpuEvery is the interval between samples of GPUs.
const gpuEvery = time.Second

// poolEvery is the interval between samples of a pool.
const poolEvery = 100 * time.Millisecond

// Check checks that this machine can report on GPUs, if the plan asks for it.
func (w *Watch) Check() error {
	_, err := w.nvidiaSMI()
	return err
}

// nvidiaSMI is the path of nvidia-smi, empty if the plan does not ask for it.
func (w *Watch) nvidiaSMI() (string, error) {
	if w.GPU != NvidiaSMI {
		return "", nil
	}
	path, err := exec.LookPath(NvidiaSMI)
	if err != nil {
		return "", fmt.Errorf("argument --gpu-metrics: %w: it may also be http://HOST:9400/metrics of a DCGM exporter", err)
	}
	return path, nil
}

// openGPUs checks that GPUs can be sampled, if the plan asks for it: once for all targets, but
// apart for those that have their own.
func (tr *trial) openGPUs(ctx context.Context) error {
	for _, t := range tr.targets {
		of := &t.watches
		if !t.Watch.OwnGPU {
			of = &tr.watches
		}
		if t.Watch.GPU == "" || of.Has(gpuSetting) {
			continue
		}
		sample, err := tr.openGPUsOf(ctx, t)
		if err != nil {
			return err
		}
		of.Add(gpuSetting, sample)
	}
	return nil
}

// openGPUsOf is the sampler of the GPUs that the target's plan names.
func (tr *trial) openGPUsOf(ctx context.Context, t *target) (sampler watch.Sampler, err error) {
	limited, cancel := context.WithTimeout(ctx, t.Limits.Call)
	defer cancel()
	if t.Watch.GPU != NvidiaSMI {
		sampler, err = t.exporter(limited)
	} else {
		smi := host.NvidiaSMI{Only: t.Watch.GPUs, Instant: true}
		if smi.Path, err = t.Watch.nvidiaSMI(); err != nil {
			return nil, err
		}
		var note string
		smi, note = smi.WithReasons(limited)
		if note != "" && !slices.Contains(tr.state.Notes, note) {
			tr.state.Notes = append(tr.state.Notes, note)
		}
		var gpus []samples.GPU
		gpus, err = smi.GPUs(limited)
		if !slices.ContainsFunc(gpus, func(g samples.GPU) bool { return g.Power != nil }) {
			smi.Instant = false
			gpus, err = smi.GPUs(limited)
		}
		sampler = smi.Sample(len(gpus), gpuEvery)
		if tr.smi != nil && tr.smi.Only != smi.Only {
			smi.Only = "" // processes are looked for on all GPUs
		}
		tr.smi = &smi
	}
	if err != nil {
		return nil, &FailedError{fmt.Errorf(gpuSetting+": %w", err)}
	}
	return sampler, nil
}

// exporter is the sampler of a DCGM exporter, which must answer.
func (t *target) exporter(ctx context.Context) (watch.Sampler, error) {
	connections := wire.Connections{Timeout: t.Limits.Connect}
	if t.Watch.GPU == t.Server.BaseURL { // the server has these metrics, too, as the simulated one
		connections.Dial = t.Server.Dial
	}
	transport := connections.Transport()
	exporter := &openai.Server{URL: t.Watch.GPU, Limit: t.Limits.Call, Transport: transport}
	_, err := exporter.GPUs(ctx)
	if errors.Is(err, scrape.ErrNoSample) {
		err = fmt.Errorf("%w: it must be the page of a DCGM exporter, or of servebench sim --gpu-power", err)
	}
	transport.CloseIdleConnections()
	return closing(transport, openai.SampleDCGM(exporter, gpuEvery)), err
}

// openSamplers checks that the server reports metrics, if the plan asks for it. Only the first of
// several shards asks. If the plan names replicas, each of them must answer; a page without a known
// number is an answer.
func (t *target) openSamplers(ctx context.Context) error {
	if err := t.openPool(ctx); err != nil || !t.Watch.Server || t.Shard.Index > 0 {
		return err
	}
	for _, r := range t.replicas() {
		_, err := r.ServerSample(ctx)
		unknown := errors.Is(err, scrape.ErrNoSample)
		if unknown { // some servers have metrics only after their first request
			t.say("WARNING: --server-metrics: %s: it is asked again during the run", t.Server.Secrets.Mask(err.Error()))
		}
		if err != nil && !unknown && r.name != "" {
			return &FailedError{fmt.Errorf(serverSetting+": %w", err)}
		}
		if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
			t.say("WARNING: --server-metrics: %s: it is not asked again", t.Server.Secrets.Mask(err.Error()))
			return nil
		}
		t.watches.Add(serverSetting, closing(r.transport, openai.SampleServer(r.Server, r.name, t.Watch.Every)))
	}
	return nil
}

// openPool checks that the server's pool can be sampled, if the plan asks for it. Only the first of
// several shards does.
func (t *target) openPool(ctx context.Context) error {
	if t.Watch.Pool == "" || t.Shard.Index > 0 {
		return nil
	}
	pool := host.NewKVCached(strings.ReplaceAll(t.Watch.Pool, TargetMark, t.Target))
	if err := pool.Check(ctx); err != nil {
		return &FailedError{fmt.Errorf(poolSetting+": %w", err)}
	}
	t.watches.Add(poolSetting, pool.Sample(poolEvery))
	return nil
}

// A replica is a server that is asked for its metrics over separate connections, so the load does
// not wait for them.
type replica struct {
	*openai.Server
	name      string // its URL; empty for the server under load if no replica was named
	transport *wire.Transport
}

// replicas are the named ones, or else the server under load.
func (t *target) replicas() (all []replica) {
	for _, url := range t.Watch.URLs {
		transport := t.transport.Apart()
		t.beside = append(t.beside, transport)
		all = append(all, replica{&openai.Server{URL: url, Header: t.server.Header, Transport: transport,
			Limit: t.server.Limit}, url, transport})
	}
	if all == nil {
		transport := t.transport.Apart()
		t.beside = append(t.beside, transport)
		all = append(all, replica{t.server.With(transport, t.server.Limit), "", transport})
	}
	return all
}

// closing is a sampler that uses a new connection for each sample: over the same connection, a load
// balancer may always choose the same replica.
func closing(tr *wire.Transport, sample watch.Sampler) watch.Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
		sample(ctx, epoch, func(s *samples.Sample) {
			tr.CloseIdleConnections()
			take(s)
		})
	}
}

// watch begins to sample.
func (tr *trial) watch(epoch time.Time) {
	tr.watches.Start(epoch)
	tr.watchApps(epoch)
	for _, t := range tr.targets {
		t.unsilence = t.watchSilence(muteLoad(t.live))
		t.watches.Mask = t.Server.Secrets.Mask
		t.watches.Start(epoch)
	}
}

// drain records and collects the samples so far.
func (tr *trial) drain(do func(func())) {
	keep := func(t *target, s *samples.Sample) {
		t.recorder.sample(s)
		do(func() { t.collector.AddSample(s) })
	}
	for _, s := range tr.watches.Drain() {
		for _, t := range tr.targets {
			if !t.Watch.OwnGPU {
				keep(t, s)
			}
		}
	}
	for _, t := range tr.targets {
		for _, s := range t.watches.Drain() {
			keep(t, s)
		}
	}
}

// unwatch ends the sampling.
func (tr *trial) unwatch() {
	tr.watches.Stop()
	if tr.apps != nil {
		tr.state.Processes, tr.state.Notes = tr.apps.Stop(tr.state.Notes)
	}
	for _, t := range tr.targets {
		t.unsilence()
		t.watches.Stop()
	}
	tr.drain(func(collect func()) { collect() })
}

// troubles say what was wrong with the samples of t.
func (tr *trial) troubles(t *target) []string {
	said := t.watches.Troubles()
	if !t.Watch.OwnGPU {
		said = append(said, tr.watches.Troubles()...)
	}
	return said
}

// watchApps begins to note which processes compute on the GPUs. What this process has started, such
// as the servers of a sweep, is a server's, and so are the servers of the targets that get no load now.
func (tr *trial) watchApps(epoch time.Time) {
	if tr.smi == nil {
		return
	}
	servers, mps := []int{os.Getpid()}, false
	for _, t := range tr.targets {
		servers = append(servers, t.pid())
		mps = mps || t.mps != nil
	}
	for _, p := range tr.idle {
		if found, known := (&target{Plan: p}).listener(); known {
			servers = append(servers, found.PID)
		}
	}
	tr.apps = host.StartAppWatch(*tr.smi, epoch, gpuEvery, host.OwnerAmong(servers, mps))
}

// gpuState is what was seen of the GPUs and of t's MPS; nil if nothing was.
func (tr *trial) gpuState(ctx context.Context, t *target) *gpu.State {
	s := tr.state
	s.MPS = t.mps
	if after := t.underMPS(ctx, gpu.After); t.mps != nil {
		s.MPS = append(slices.Clip(s.MPS), after...)
	}
	if s.Processes == nil && s.MPS == nil && s.Notes == nil {
		return nil
	}
	return &s
}
