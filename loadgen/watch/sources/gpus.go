package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// GPUs samples the GPUs of a load test, and notes which processes compute on them. The zero value samples nothing.
type GPUs struct {
	// Shared samples GPUs that the targets share.
	Shared watch.Set

	smi   *host.NvidiaSMI // that samples GPUs; nil if it does not
	apps  *host.AppWatch  // by that program
	notes []string        // what it does not report
}

// A demand is a target that asks for samples of GPUs.
type demand struct {
	*GPUs
	Target
}

// Open checks that GPUs can be sampled, if the settings of a target ask for it: once for all targets, but
// apart, by its set, for a target that has its own. An error names the setting.
func (g *GPUs) Open(ctx context.Context, t Target, own *watch.Set) error {
	of := own
	if !t.Watch.OwnGPU {
		of = &g.Shared
	}
	if of.Has(t.Spelling.Spell(naming.GPU)) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.Limits.Call)
	defer cancel()
	for i := range ofGPUs {
		if err := ofGPUs[i].add(ctx, &demand{g, t}, t.Spelling, of); err != nil {
			return err
		}
	}
	return nil
}

// nvidiaSMI is the sampler of that program, which must answer.
func (d *demand) nvidiaSMI(ctx context.Context, every time.Duration) ([]watch.Sampler, error) {
	path, err := d.Watch.NvidiaSMI(d.Spelling)
	if path == "" || err != nil {
		return nil, err
	}
	smi, note := host.NvidiaSMI{Path: path, Only: d.Watch.GPUs, Instant: true}.WithReasons(ctx)
	if note != "" && !slices.Contains(d.notes, note) {
		d.notes = append(d.notes, note)
	}
	all, err := smi.GPUs(ctx)
	if !slices.ContainsFunc(all, func(g samples.GPU) bool { return g.Power != nil }) {
		smi.Instant = false
		all, err = smi.GPUs(ctx)
	}
	sampler := smi.Sample(len(all), every)
	if d.smi != nil && d.smi.Only != smi.Only {
		smi.Only = "" // processes are looked for on all GPUs
	}
	d.smi = &smi
	return []watch.Sampler{sampler}, err
}

// dcgm is the sampler of a DCGM exporter, which must answer.
func (d *demand) dcgm(ctx context.Context, every time.Duration) ([]watch.Sampler, error) {
	url := d.Watch.GPU
	if url == "" || url == settings.NvidiaSMI {
		return nil, nil
	}
	connections := wire.Connections{Timeout: d.Limits.Connect}
	if url == d.Server.BaseURL { // the server has these metrics, too, as the simulated one
		connections.Dial = d.Server.Dial
	}
	transport := connections.Transport()
	exporter := &openai.Server{URL: url, Limit: d.Limits.Call, Transport: transport}
	_, err := exporter.GPUs(ctx)
	if errors.Is(err, scrape.ErrNoSample) {
		err = fmt.Errorf("%w: it must be the page of a DCGM exporter, or of servebench sim --gpu-power", err)
	}
	transport.CloseIdleConnections()
	return []watch.Sampler{closing(transport, openai.SampleDCGM(exporter, every))}, err
}

// appsEvery is the interval between looks at the processes on the GPUs.
const appsEvery = time.Second

// Start begins to sample shared GPUs, and to note which processes compute on GPUs. What this process has started,
// such as the servers of a sweep, is a server's, and so are the processes given. mps says that a server is
// under MPS. Stop Shared.
func (g *GPUs) Start(epoch time.Time, servers []int, mps bool) {
	if g.smi != nil {
		g.apps = &host.AppWatch{SMI: *g.smi, Owner: host.OwnerAmong(append(servers, os.Getpid()), mps)}
		g.Shared.Add("processes on GPUs", g.apps.Sample(appsEvery))
	}
	g.Shared.Start(epoch)
}

// State is what was seen of the GPUs and of a server's MPS; nil if nothing was. Call it once Shared and the target's
// set have been stopped.
func (g *GPUs) State(p *Process) *gpu.State {
	s := gpu.State{MPS: p.mps, Notes: g.notes}
	if g.apps != nil {
		s.Processes, s.Notes = g.apps.Seen(slices.Clip(g.notes))
	}
	if s.Processes == nil && s.MPS == nil && s.Notes == nil {
		return nil
	}
	return &s
}
