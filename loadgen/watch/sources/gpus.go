package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// gpuSetting asks for samples of GPUs.
const gpuSetting = "--gpu-metrics"

// gpuEvery is the interval between samples of GPUs.
const gpuEvery = time.Second

// GPUs samples the GPUs of a load test, and notes which processes compute on them. The zero value samples nothing.
type GPUs struct {
	// Shared samples GPUs that the targets share.
	Shared watch.Set

	smi   *host.NvidiaSMI // that samples GPUs; nil if it does not
	apps  *host.AppWatch  // by that program
	state gpu.State       // what was seen of the GPUs of this machine, without MPS
}

// Open checks that GPUs can be sampled, if the settings of a target ask for it: once for all targets, but
// apart, by its set, for a target that has its own. An error names the setting.
func (g *GPUs) Open(ctx context.Context, w *settings.Watch, server *settings.Server, limits *settings.Limits,
	own *watch.Set) error {
	of := own
	if !w.OwnGPU {
		of = &g.Shared
	}
	if w.GPU == "" || of.Has(gpuSetting) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limits.Call)
	defer cancel()
	sampler, err := g.sampler(ctx, w, server, limits)
	if err != nil {
		return fmt.Errorf(gpuSetting+": %w", err)
	}
	of.Add(gpuSetting, sampler)
	return nil
}

func (g *GPUs) sampler(ctx context.Context, w *settings.Watch, server *settings.Server, limits *settings.Limits) (
	watch.Sampler, error) {
	if w.GPU != settings.NvidiaSMI {
		return dcgm(ctx, w.GPU, server, limits)
	}
	path, err := w.NvidiaSMI()
	if err != nil {
		return nil, err
	}
	return g.nvidiaSMI(ctx, host.NvidiaSMI{Path: path, Only: w.GPUs, Instant: true})
}

// nvidiaSMI is the sampler of that program, which must answer.
func (g *GPUs) nvidiaSMI(ctx context.Context, smi host.NvidiaSMI) (watch.Sampler, error) {
	smi, note := smi.WithReasons(ctx)
	if note != "" && !slices.Contains(g.state.Notes, note) {
		g.state.Notes = append(g.state.Notes, note)
	}
	all, err := smi.GPUs(ctx)
	if !slices.ContainsFunc(all, func(g samples.GPU) bool { return g.Power != nil }) {
		smi.Instant = false
		all, err = smi.GPUs(ctx)
	}
	sampler := smi.Sample(len(all), gpuEvery)
	if g.smi != nil && g.smi.Only != smi.Only {
		smi.Only = "" // processes are looked for on all GPUs
	}
	g.smi = &smi
	return sampler, err
}

// dcgm is the sampler of a DCGM exporter, which must answer.
func dcgm(ctx context.Context, url string, server *settings.Server, limits *settings.Limits) (watch.Sampler, error) {
	connections := wire.Connections{Timeout: limits.Connect}
	if url == server.BaseURL { // the server has these metrics, too, as the simulated one
		connections.Dial = server.Dial
	}
	transport := connections.Transport()
	exporter := &openai.Server{URL: url, Limit: limits.Call, Transport: transport}
	_, err := exporter.GPUs(ctx)
	if errors.Is(err, scrape.ErrNoSample) {
		err = fmt.Errorf("%w: it must be the page of a DCGM exporter, or of servebench sim --gpu-power", err)
	}
	transport.CloseIdleConnections()
	return closing(transport, openai.SampleDCGM(exporter, gpuEvery)), err
}

// Start begins to sample shared GPUs, and to note which processes compute on GPUs. What this process has started,
// such as the servers of a sweep, is a server's, and so are the processes given. mps says that a server is
// under MPS. Call Stop.
func (g *GPUs) Start(epoch time.Time, servers []int, mps bool) {
	g.Shared.Start(epoch)
	if g.smi != nil {
		owner := host.OwnerAmong(append(servers, os.Getpid()), mps)
		g.apps = host.StartAppWatch(*g.smi, epoch, gpuEvery, owner)
	}
}

// Stop ends what Start began, and waits for its end.
func (g *GPUs) Stop() {
	g.Shared.Stop()
	if g.apps != nil {
		g.state.Processes, g.state.Notes = g.apps.Stop(g.state.Notes)
	}
}

// State is what was seen of the GPUs and of a server's MPS, before the load and after it; nil if nothing was.
func (g *GPUs) State(ctx context.Context, p *Process) *gpu.State {
	s := g.state
	s.MPS = p.mps
	if after := p.underMPS(ctx, gpu.After); p.mps != nil {
		s.MPS = append(slices.Clip(s.MPS), after...)
	}
	if s.Processes == nil && s.MPS == nil && s.Notes == nil {
		return nil
	}
	return &s
}
