package loadgen

import (
	"context"
	"errors"

	"github.com/servebench/servebench/metrics/record"
)

// startProfiler asks the server to profile the load, if the plan asks for it; only the first of
// several shards does so. If the server cannot, the run goes on with a warning. As vLLM's client, it is
// asked to stop in any case.
func (t *target) startProfiler(ctx context.Context) {
	if !t.Traffic.Profile || t.Shard.Index > 0 {
		return
	}
	t.event(Event{Kind: StartingProfiler})
	t.profiling = true
	if err := t.server.StartProfile(ctx); err != nil {
		t.say("WARNING: %s; the run goes on without a profile%s", t.Server.Secrets.Mask(err.Error()), profilerAdvice(err))
		return
	}
	t.profiled = true
	t.event(Event{Kind: StartedProfiler})
}

// stopProfiler asks the server to write its profile, which may take long. It also does so for an
// interrupted run.
func (t *target) stopProfiler(ctx context.Context) {
	if !t.profiling {
		return
	}
	t.profiling = false
	t.event(Event{Kind: StoppingProfiler})
	patient := t.server.With(t.server.Transport, t.Limits.Total)
	if err := patient.StopProfile(context.WithoutCancel(ctx)); err != nil {
		if t.profiled { // else it has been reported
			t.say("WARNING: %s: the server may have no profile", t.Server.Secrets.Mask(err.Error()))
		}
		return
	}
	t.event(Event{Kind: StoppedProfiler})
}

// profilerAdvice says what to do if a server has no profiler.
func profilerAdvice(err error) string {
	if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
		return ": start vLLM with VLLM_TORCH_PROFILER_DIR set or, where it is newer, with --profiler-config"
	}
	return ""
}
