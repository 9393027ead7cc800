// Package sources says what a run can sample: servers' metrics, pools of memory, GPUs, and the processes of servers,
// with their MPS.
//
// A source is a row: the setting that asks for it, and how it is opened. Opening it proves that it is there, so that a
// run does not begin without what it was asked to watch, and gives samplers for a watch.Set. What a sampler cannot
// get is in its samples.
package sources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/settings"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// A Server is a server to watch.
type Server struct {
	Target string // its name among several; empty for a single one
	Watch  *settings.Watch
	Mask   func(text string) string // hides secrets

	// Calls are for its metrics, and Apart makes a transport that the load does not use.
	Calls *openai.Server
	Apart func() *wire.Transport

	Say func(format string, args ...any) // takes remarks
}

// A source is one thing to sample of a server.
type source struct {
	setting string // asks for it
	open    func(*Server, context.Context) ([]watch.Sampler, error)
}

// all are the sources of a server. GPUs are a machine's.
var all = []source{
	{"--kvcached-metrics", (*Server).pool},
	{"--server-metrics", (*Server).metrics},
}

// Open adds to a set what the settings ask for. An error names the setting.
func (s *Server) Open(ctx context.Context, to *watch.Set) error {
	for _, source := range all {
		samplers, err := source.open(s, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", source.setting, err)
		}
		for _, sampler := range samplers {
			to.Add(source.setting, sampler)
		}
	}
	return nil
}

// metrics checks that the server reports metrics. If the settings name replicas, each of them must answer; a page
// without a known number is an answer.
func (s *Server) metrics(ctx context.Context) (samplers []watch.Sampler, err error) {
	if !s.Watch.Server {
		return nil, nil
	}
	for _, r := range s.replicas() {
		_, err := r.ServerSample(ctx)
		unknown := errors.Is(err, scrape.ErrNoSample)
		if unknown { // some servers have metrics only after their first request
			s.Say("WARNING: --server-metrics: %s: it is asked again during the run", s.Mask(err.Error()))
		}
		if err != nil && !unknown && r.name != "" {
			return nil, err
		}
		if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
			s.Say("WARNING: --server-metrics: %s: it is not asked again", s.Mask(err.Error()))
			return samplers, nil
		}
		samplers = append(samplers, closing(r.transport, openai.SampleServer(r.Server, r.name, s.Watch.Every)))
	}
	return samplers, nil
}

// poolEvery is the interval between samples of a pool.
const poolEvery = 100 * time.Millisecond

// pool checks that the server's pool can be sampled.
func (s *Server) pool(ctx context.Context) ([]watch.Sampler, error) {
	if s.Watch.Pool == "" {
		return nil, nil
	}
	pool := host.NewKVCached(strings.ReplaceAll(s.Watch.Pool, settings.TargetMark, s.Target))
	if err := pool.Check(ctx); err != nil {
		return nil, err
	}
	return []watch.Sampler{pool.Sample(poolEvery)}, nil
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
