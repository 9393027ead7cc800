package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/servebench/servebench/metrics"
)

// startProfiler has the server profile the load, if that was asked for: the first
// of several shards does. A server that does not is said; the run goes on.
func (b *bench) startProfiler(ctx context.Context) {
	if !b.Traffic.Profile || b.Shard.Index > 0 {
		return
	}
	fmt.Fprintln(b.out, "Starting profiler...")
	if err := b.server.StartProfile(ctx); err != nil {
		b.say("WARNING: %s; the run goes on without a profile%s", b.Server.Secrets.mask(err.Error()), profilerAdvice(err))
		return
	}
	b.profiling = true
	fmt.Fprintln(b.out, "Profiler started")
}

// stopProfiler has the server write its profile, which may take long. It is done
// for an interrupted run, too.
func (b *bench) stopProfiler(ctx context.Context) {
	if !b.profiling {
		return
	}
	b.profiling = false
	fmt.Fprintln(b.out, "Stopping profiler...")
	patient := b.server.With(b.server.Transport, b.Limits.Total)
	if err := patient.StopProfile(context.WithoutCancel(ctx)); err != nil {
		b.say("WARNING: %s: the server may have no profile", b.Server.Secrets.mask(err.Error()))
		return
	}
	fmt.Fprintln(b.out, "Profiler stopped")
}

// profilerAdvice is what to do where a server has no profiler.
func profilerAdvice(err error) string {
	if f, ok := errors.AsType[*metrics.Failure](err); ok && f.Class == metrics.Status {
		return ": start vLLM with VLLM_TORCH_PROFILER_DIR set or, where it is newer, with --profiler-config"
	}
	return ""
}
