package openai

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/scrape"
)

// ServerSample is the state that the server reports in GET /metrics. The error wraps
// scrape.ErrNoSample if there is no such state in it.
func (s *Server) ServerSample(ctx context.Context) (*metrics.ServerSample, error) {
	return parsed(ctx, s, scrape.ParseServer)
}

// GPUs is the state of GPUs that a DCGM exporter reports in GET /metrics. The error wraps
// scrape.ErrNoSample if there is no such state in it.
func (s *Server) GPUs(ctx context.Context) ([]metrics.GPUSample, error) {
	return parsed(ctx, s, scrape.ParseDCGM)
}

func parsed[T any](ctx context.Context, s *Server, parse func(io.Reader) (T, error)) (found T, err error) {
	text, err := s.Metrics(ctx)
	if err != nil {
		return found, err
	}
	if found, err = parse(strings.NewReader(text)); err != nil {
		return found, fmt.Errorf("%s/metrics: %w", s.URL, err)
	}
	return found, nil
}

// SampleServer samples a server at the epoch and at whole multiples of an interval after it. It
// skips times at which the previous answer is still missing. If a server has several replicas, from
// is the URL of this one.
func SampleServer(s *Server, from string, every time.Duration) host.Sampler {
	return periodically(every, func(ctx context.Context, to *metrics.Sample) (err error) {
		to.From = from
		to.Server, err = s.ServerSample(ctx)
		return err
	})
}

// SampleDCGM is like SampleServer, for the GPUs of a DCGM exporter.
func SampleDCGM(s *Server, every time.Duration) host.Sampler {
	return periodically(every, func(ctx context.Context, to *metrics.Sample) (err error) {
		to.GPUs, err = s.GPUs(ctx)
		return err
	})
}

func periodically(every time.Duration, ask func(context.Context, *metrics.Sample) error) host.Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*metrics.Sample)) {
		for n := time.Duration(0); ; n = max(n+1, (time.Since(epoch)+every-1)/every) {
			if engine.Sleep(ctx, epoch.Add(n*every)) != nil {
				return
			}
			asked := time.Now()
			s := &metrics.Sample{At: asked.Sub(epoch)}
			err := ask(ctx, s)
			if ctx.Err() != nil {
				return
			}
			s.Took = time.Since(asked)
			if err != nil {
				s.Error = metrics.Shorten(err.Error())
			}
			take(s)
		}
	}
}
