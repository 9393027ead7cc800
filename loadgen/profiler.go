package loadgen

import (
	"context"
	"errors"

	"github.com/servebench/servebench/metrics"
)

// startProfiler has the server profile the load, if that was asked for: the first
// of several shards does. A server that does not is said; the run goes on.
func (t *target) startProfiler(ctx context.Context) {
	if !t.Traffic.Profile || t.Shard.Index > 0 {
		return
	}
	t.step(Step{Kind: StartingProfiler})
	if err := t.server.StartProfile(ctx); err != nil {
		t.say("WARNING: %s; the run goes on without a profile%s", t.Server.Secrets.Mask(err.Error()), profilerAdvice(err))
		return
	}
	t.profiling = true
	t.step(Step{Kind: StartedProfiler})
}

// stopProfiler has the server write its profile, which may take long. It is done
// for an interrupted run, too.
func (t *target) stopProfiler(ctx context.Context) {
	if !t.profiling {
		return
	}
	t.profiling = false
	t.step(Step{Kind: StoppingProfiler})
	patient := t.server.With(t.server.Transport, t.Limits.Total)
	if err := patient.StopProfile(context.WithoutCancel(ctx)); err != nil {
		t.say("WARNING: %s: the server may have no profile", t.Server.Secrets.Mask(err.Error()))
		return
	}
	t.step(Step{Kind: StoppedProfiler})
}

// profilerAdvice is what to do where a server has no profiler.
func profilerAdvice(err error) string {
	if f, ok := errors.AsType[*metrics.Failure](err); ok && f.Class == metrics.Status {
		return ": start vLLM with VLLM_TORCH_PROFILER_DIR set or, where it is newer, with --profiler-config"
	}
	return ""
}
