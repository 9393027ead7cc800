// Package sources says what a run can sample: servers' metrics, pools of memory, GPUs, and the processes of servers,
// with their MPS.
//
// A source is a row: the setting that asks for it, how often it is sampled, and how it is opened. Opening it proves
// that it is there, so that a run does not begin without what it was asked to watch, and gives samplers for a
// watch.Set. What a sampler cannot get is in its samples. GPUs are opened before any server is reached, the sources
// of a server when the load is about to begin. Processes on the GPUs and MPS are samplers, too, but of a state: what
// they saw is known once they have ended.
package sources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// A Target is a server under load, and what its plan asks to watch.
type Target struct {
	Name   string // among several; empty for a single one
	Watch  *settings.Watch
	Server *settings.Server
	Limits *settings.Limits

	Spelling naming.Spelling // of the settings that errors, remarks and the names of samplers have
}

// A source is one thing to sample of an S: of a server, or of what asks for GPUs.
type source[S any] struct {
	setting naming.Name   // asks for it
	every   time.Duration // between samples; 0: the settings say it
	open    func(S, context.Context, time.Duration) ([]watch.Sampler, error)
}

// add opens a source, and adds its samplers to a set. An error names the setting, as by spells it.
func (o *source[S]) add(ctx context.Context, of S, by naming.Spelling, to *watch.Set) error {
	setting := by.Spell(o.setting)
	samplers, err := o.open(of, ctx, o.every)
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	for _, sampler := range samplers {
		to.Add(setting, sampler)
	}
	return nil
}

// ofServer are the sources of a server.
var ofServer = []source[*Server]{
	{naming.ServerMetrics, 0, (*Server).metrics},
	{naming.Pool, 100 * time.Millisecond, (*Server).pool},
}

// ofGPUs are the sources of GPUs. A plan asks for one of them.
var ofGPUs = []source[*demand]{
	{naming.GPU, time.Second, (*demand).nvidiaSMI},
	{naming.GPU, time.Second, (*demand).dcgm},
}

// A Server samples the server of a target, once it has been reached.
type Server struct {
	Target

	// Calls are for its metrics, and Apart makes a transport that the load does not use.
	Calls *openai.Server
	Apart func() *wire.Transport

	Say func(format string, args ...any) // takes remarks
}

// Open adds to a set what the settings ask for. An error names the setting.
func (s *Server) Open(ctx context.Context, to *watch.Set) error {
	for i := range ofServer {
		if err := ofServer[i].add(ctx, s, s.Spelling, to); err != nil {
			return err
		}
	}
	return nil
}

// metrics checks that the server reports metrics. If the settings name replicas, each of them must answer; a page
// without a known number is an answer.
func (s *Server) metrics(ctx context.Context, _ time.Duration) (samplers []watch.Sampler, err error) {
	if !s.Watch.Server {
		return nil, nil
	}
	setting := s.Spelling.Spell(naming.ServerMetrics)
	for _, r := range s.replicas() {
		_, err := r.ServerSample(ctx)
		unknown := errors.Is(err, scrape.ErrNoSample)
		if unknown { // some servers have metrics only after their first request
			s.Say("WARNING: %s: %v: it is asked again during the run", setting, err)
		}
		if err != nil && !unknown && r.name != "" {
			return nil, err
		}
		if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
			s.Say("WARNING: %s: %v: it is not asked again", setting, err)
			return samplers, nil
		}
		samplers = append(samplers, closing(r.transport, openai.SampleServer(r.Server, r.name, s.Watch.Every)))
	}
	return samplers, nil
}

// pool checks that the server's pool can be sampled.
func (s *Server) pool(ctx context.Context, every time.Duration) ([]watch.Sampler, error) {
	if s.Watch.Pool == "" {
		return nil, nil
	}
	pool := host.NewKVCached(strings.ReplaceAll(s.Watch.Pool, settings.TargetMark, s.Name))
	if err := pool.Check(ctx); err != nil {
		return nil, err
	}
	return []watch.Sampler{pool.Sample(every)}, nil
}

// Counters are the totals of speculative and diffusion decoding and of the prefix cache of each
// replica, each asked over a separate connection; nil unless all report them.
func (s *Server) Counters(ctx context.Context) (all []scrape.Counters) {
	for _, r := range s.replicas() {
		text, err := r.Metrics(ctx)
		r.transport.CloseIdleConnections()
		if err != nil {
			return nil
		}
		c, err := scrape.ParseCounters(strings.NewReader(text))
		if err != nil {
			return nil
		}
		all = append(all, c)
	}
	return all
}

// A replica is a server that is asked for its metrics over separate connections, so the load does
// not wait for them.
type replica struct {
	*openai.Server
	name      string // its URL; empty for the server under load if no replica was named
	transport *wire.Transport
}

// replicas are the named ones, or else the server under load.
func (s *Server) replicas() (all []replica) {
	for _, url := range s.Watch.URLs {
		transport := s.Apart()
		all = append(all, replica{&openai.Server{URL: url, Header: s.Calls.Header, Transport: transport,
			Limit: s.Calls.Limit}, url, transport})
	}
	if all == nil {
		transport := s.Apart()
		all = append(all, replica{s.Calls.With(transport, s.Calls.Limit), "", transport})
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
