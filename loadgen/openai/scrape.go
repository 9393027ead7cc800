package openai

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
)

// ServerSample is the state that the server reports in GET /metrics. The error wraps
// scrape.ErrNoSample if there is no such state in it.
func (s *Server) ServerSample(ctx context.Context) (*samples.Server, error) {
	return parsed(ctx, s, scrape.ParseServer)
}

// GPUs is the state of GPUs that a DCGM exporter reports in GET /metrics. The error wraps
// scrape.ErrNoSample if there is no such state in it.
func (s *Server) GPUs(ctx context.Context) ([]samples.GPU, error) {
	return parsed(ctx, s, scrape.ParseDCGM)
}

func parsed[T any](ctx context.Context, s *Server, parse func(io.Reader) (T, error)) (found T, err error) {
	text, err := s.Metrics(ctx)
	if err != nil {
		return found, err
	}
	if found, err = parse(strings.NewReader(text)); err != nil {
		return found, fmt.Errorf("%s: %w", s.get(s.metricsPath()), err)
	}
	return found, nil
}

// SampleServer samples a server at the epoch and at whole multiples of an interval after it. It
// skips times at which the previous answer is still missing. If a server has several replicas, from
// is the URL of this one.
func SampleServer(s *Server, from string, every time.Duration) watch.Sampler {
	return periodically(every, func(ctx context.Context, to *samples.Sample) (err error) {
		to.From = from
		to.Server, err = s.ServerSample(ctx)
		return err
	})
}

// lastWithin bounds the last sample of GPUs.
const lastWithin = 2 * time.Second

// SampleDCGM is like SampleServer, for the GPUs of a DCGM exporter. It takes a last sample after the
// end of ctx, so that counters are known at the end of a run.
func SampleDCGM(s *Server, every time.Duration) watch.Sampler {
	ask := func(ctx context.Context, to *samples.Sample) (err error) {
		to.GPUs, err = s.GPUs(ctx)
		return err
	}
	return func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
		periodically(every, ask)(ctx, epoch, take)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWithin)
		defer cancel()
		if to := sampled(last, epoch, ask); to.Error == "" {
			take(to)
		}
	}
}

func periodically(every time.Duration, ask func(context.Context, *samples.Sample) error) watch.Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
		for n := time.Duration(0); ; n = max(n+1, (time.Since(epoch)+every-1)/every) {
			if engine.Sleep(ctx, epoch.Add(n*every)) != nil {
				return
			}
			s := sampled(ctx, epoch, ask)
			if ctx.Err() != nil {
				return
			}
			take(s)
		}
	}
}

// sampled is one sample.
func sampled(ctx context.Context, epoch time.Time, ask func(context.Context, *samples.Sample) error) *samples.Sample {
	asked := time.Now()
	s := &samples.Sample{At: asked.Sub(epoch)}
	err := ask(ctx, s)
	s.Took = time.Since(asked)
	if err != nil {
		s.Error = record.Shorten(err.Error())
	}
	return s
}
