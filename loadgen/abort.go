package loadgen

import (
	"context"
	"errors"
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/record"
)

// An aborter stops a run that breaks its rule. It counts the requests of all targets.
type aborter struct {
	AbortRule
	named  string                  // the rule as users know it
	stop   context.CancelCauseFunc // nil after its first call
	ended  int
	failed failures.Failing
}

// take counts a request. A request that we cut ourselves tells nothing about the server.
func (a *aborter) take(rec *record.Record) {
	if rec.Phase == record.WarmUp || rec.Result.Class.Cut() {
		return
	}
	a.ended++
	if rec.Result.Class != record.OK {
		a.failed.Add(rec)
	}
	if a.stop == nil || !a.Broken(a.failed.Requests, a.ended) {
		return
	}
	message, n := a.failed.Messages.Commonest()
	a.stop(AbortError(fmt.Sprintf("%s %s: %d of %s failed; %s: %s", a.named, a.Text,
		a.failed.Requests, metrics.Counted(a.ended, "request"), metrics.Counted(n, "time"), message)))
	a.stop = nil
}

// An AbortError names the rule that stopped a run, and the failures that broke it.
type AbortError string

func (e AbortError) Error() string { return "stopped by " + string(e) }

// aborted returns the reason if the rule stopped the run of that context.
func aborted(ctx context.Context) (why AbortError, stopped bool) {
	return errors.AsType[AbortError](context.Cause(ctx))
}
