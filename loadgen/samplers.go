package loadgen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// The settings that ask for samples.
const (
	serverSetting = "--server-metrics"
	poolSetting   = "--kvcached-metrics"
)

// poolEvery is the interval between samples of a pool.
const poolEvery = 100 * time.Millisecond

// openSamplers adds the samplers of a target to its set. Only the first of several shards samples.
func (v voice) openSamplers(ctx context.Context, server *contact, to *watch.Set) error {
	if v.plan.Shard.Index > 0 {
		return nil
	}
	if err := v.openPool(ctx, to); err != nil {
		return err
	}
	return v.openServer(ctx, server, to)
}

// openServer checks that the server reports metrics, if the plan asks for it. If the plan names replicas, each of
// them must answer; a page without a known number is an answer.
func (v voice) openServer(ctx context.Context, server *contact, to *watch.Set) error {
	w, mask := &v.plan.Watch, v.plan.Server.Secrets.Mask
	if !w.Server {
		return nil
	}
	for _, r := range server.replicas(w.URLs) {
		_, err := r.ServerSample(ctx)
		unknown := errors.Is(err, scrape.ErrNoSample)
		if unknown { // some servers have metrics only after their first request
			v.say("WARNING: --server-metrics: %s: it is asked again during the run", mask(err.Error()))
		}
		if err != nil && !unknown && r.name != "" {
			return &FailedError{fmt.Errorf(serverSetting+": %w", err)}
		}
		if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
			v.say("WARNING: --server-metrics: %s: it is not asked again", mask(err.Error()))
			return nil
		}
		to.Add(serverSetting, closing(r.transport, openai.SampleServer(r.Server, r.name, w.Every)))
	}
	return nil
}

// openPool checks that the server's pool can be sampled, if the plan asks for it.
func (v voice) openPool(ctx context.Context, to *watch.Set) error {
	if v.plan.Watch.Pool == "" {
		return nil
	}
	pool := host.NewKVCached(strings.ReplaceAll(v.plan.Watch.Pool, TargetMark, v.plan.Target))
	if err := pool.Check(ctx); err != nil {
		return &FailedError{fmt.Errorf(poolSetting+": %w", err)}
	}
	to.Add(poolSetting, pool.Sample(poolEvery))
	return nil
}

// A replica is a server that is asked for its metrics over separate connections, so the load does
// not wait for them.
type replica struct {
	*openai.Server
	name      string // its URL; empty for the server under load if no replica was named
	transport *wire.Transport
}

// replicas are those at the URLs, or else the server under load.
func (c *contact) replicas(urls []string) (all []replica) {
	for _, url := range urls {
		transport := c.apart()
		all = append(all, replica{&openai.Server{URL: url, Header: c.calls.Header, Transport: transport,
			Limit: c.calls.Limit}, url, transport})
	}
	if all == nil {
		transport := c.apart()
		all = append(all, replica{c.calls.With(transport, c.calls.Limit), "", transport})
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

// counters are the totals of speculative and diffusion decoding and of the prefix cache of each
// replica, each asked over a separate connection; nil unless all report them.
func (c *contact) counters(ctx context.Context, urls []string) (all []scrape.Counters) {
	for _, r := range c.replicas(urls) {
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
