package loadgen

import (
	"context"
	"errors"

	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics/record"
)

// A profiler has the server profile a load.
type profiler struct {
	voice
	calls   *openai.Server
	asked   bool // to begin, so that it is to be stopped
	started bool
}

// start asks the server to profile the load, if the plan asks for it; only the first of several shards does so. If
// the server cannot, the run goes on with a warning. As vLLM's client, it is asked to stop in any case.
func (p *profiler) start(ctx context.Context) {
	if !p.plan.Watch.Profile || p.plan.Shard.Index > 0 {
		return
	}
	p.event(Event{Kind: StartingProfiler})
	p.asked = true
	if err := p.calls.StartProfile(ctx); err != nil {
		p.say("WARNING: %v; the run goes on without a profile%s", err, profilerAdvice(err))
		return
	}
	p.started = true
	p.event(Event{Kind: StartedProfiler})
}

// stop asks the server to write its profile, which may take long. It also does so for an
// interrupted run.
func (p *profiler) stop(ctx context.Context) {
	if !p.asked {
		return
	}
	p.asked = false
	p.event(Event{Kind: StoppingProfiler})
	patient := p.calls.With(p.calls.Transport, p.plan.Limits.Total)
	if err := patient.StopProfile(context.WithoutCancel(ctx)); err != nil {
		if p.started { // else it has been reported
			p.say("WARNING: %v: the server may have no profile", err)
		}
		return
	}
	p.event(Event{Kind: StoppedProfiler})
}

// profilerAdvice says what to do if a server has no profiler.
func profilerAdvice(err error) string {
	if f, ok := errors.AsType[*record.Failure](err); ok && f.Class == record.Status {
		return ": start vLLM with VLLM_TORCH_PROFILER_DIR set or, where it is newer, with --profiler-config"
	}
	return ""
}
