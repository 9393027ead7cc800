package loadgen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/openai"
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

// A gpuWatch samples the GPUs of a load test, and notes who computes on them.
type gpuWatch struct {
	shared watch.Set       // samples GPUs that the targets share
	smi    *host.NvidiaSMI // that samples GPUs; nil if it does not
	apps   *host.AppWatch  // by that program
	state  gpu.State       // what was seen of the GPUs of this machine, without MPS
}

// open checks that the GPUs of a plan can be sampled, if it asks for that: once for all targets, but
// apart for those that have their own.
func (g *gpuWatch) open(ctx context.Context, p *Plan, own *watch.Set) error {
	of := own
	if !p.Watch.OwnGPU {
		of = &g.shared
	}
	if p.Watch.GPU == "" || of.Has(gpuSetting) {
		return nil
	}
	sample, err := g.sampler(ctx, p)
	if err != nil {
		return err
	}
	of.Add(gpuSetting, sample)
	return nil
}

// sampler samples the GPUs that the plan names.
func (g *gpuWatch) sampler(ctx context.Context, p *Plan) (sampler watch.Sampler, err error) {
	limited, cancel := context.WithTimeout(ctx, p.Limits.Call)
	defer cancel()
	if p.Watch.GPU != NvidiaSMI {
		sampler, err = p.dcgm(limited)
	} else {
		path, unknown := p.Watch.NvidiaSMI()
		if unknown != nil {
			return nil, unknown
		}
		sampler, err = g.nvidiaSMI(limited, host.NvidiaSMI{Path: path, Only: p.Watch.GPUs, Instant: true})
	}
	if err != nil {
		return nil, &FailedError{fmt.Errorf(gpuSetting+": %w", err)}
	}
	return sampler, nil
}

// nvidiaSMI is the sampler of that program, which must answer.
func (g *gpuWatch) nvidiaSMI(ctx context.Context, smi host.NvidiaSMI) (watch.Sampler, error) {
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
func (p *Plan) dcgm(ctx context.Context) (watch.Sampler, error) {
	connections := wire.Connections{Timeout: p.Limits.Connect}
	if p.Watch.GPU == p.Server.BaseURL { // the server has these metrics, too, as the simulated one
		connections.Dial = p.Server.Dial
	}
	transport := connections.Transport()
	exporter := &openai.Server{URL: p.Watch.GPU, Limit: p.Limits.Call, Transport: transport}
	_, err := exporter.GPUs(ctx)
	if errors.Is(err, scrape.ErrNoSample) {
		err = fmt.Errorf("%w: it must be the page of a DCGM exporter, or of servebench sim --gpu-power", err)
	}
	transport.CloseIdleConnections()
	return closing(transport, openai.SampleDCGM(exporter, gpuEvery)), err
}

// start begins to sample shared GPUs, and to note which processes compute on GPUs. What this process has started,
// such as the servers of a sweep, is a server's, and so are the processes given. mps says that a server is
// under MPS.
func (g *gpuWatch) start(epoch time.Time, servers []int, mps bool) {
	g.shared.Start(epoch)
	if g.smi != nil {
		owner := host.OwnerAmong(append(servers, os.Getpid()), mps)
		g.apps = host.StartAppWatch(*g.smi, epoch, gpuEvery, owner)
	}
}

// stop ends that.
func (g *gpuWatch) stop() {
	g.shared.Stop()
	if g.apps != nil {
		g.state.Processes, g.state.Notes = g.apps.Stop(g.state.Notes)
	}
}

// of is what was seen of the GPUs and of a server's MPS, before the load and after it; nil if nothing was.
func (g *gpuWatch) of(ctx context.Context, p *process) *gpu.State {
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
