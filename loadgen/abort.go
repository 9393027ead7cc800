package loadgen

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// abortFrom is how many requests must have ended before a share of them is looked
// at.
const abortFrom = 20

// An AbortRule says when so many requests have failed that a run is hopeless. The
// zero value is never.
type AbortRule struct {
	// Text is the rule as it was given, 10 or 5%; empty for never.
	Text string

	// Count is how many may fail.
	Count int

	// Share is what part of the requests that ended may fail instead, in percent, where
	// Text ends with %.
	Share float64
}

// broken says whether that many failures of the requests that ended are too many.
func (r AbortRule) broken(failed, ended int) bool {
	switch {
	case r.Text == "":
		return false
	case strings.HasSuffix(r.Text, "%"):
		return ended >= abortFrom && float64(failed)*100 > r.Share*float64(ended)
	}
	return failed > r.Count
}

// An aborter stops a run whose rule is broken. The requests of all its targets
// count.
type aborter struct {
	AbortRule
	stop   context.CancelCauseFunc // nil once it was called
	ended  int
	failed metrics.Failing
}

// take counts a request. One that we cut says nothing of the server.
func (a *aborter) take(rec *metrics.Record) {
	if rec.Phase == metrics.WarmUp || rec.Class.Cut() {
		return
	}
	a.ended++
	if rec.Class != metrics.OK {
		a.failed.Add(rec)
	}
	if a.stop == nil || !a.broken(a.failed.Requests, a.ended) {
		return
	}
	message, n := a.failed.Commonest()
	a.stop(AbortError(fmt.Sprintf("--abort-on-failures %s: %d of %s failed; %s: %s",
		a.Text, a.failed.Requests, count(a.ended, "request"), count(n, "time"), message)))
	a.stop = nil
}

// An AbortError says the rule by which a run was stopped, and how it was broken.
type AbortError string

func (e AbortError) Error() string { return "stopped by " + string(e) }

// aborted says why the run of that context was stopped, if it was by its rule.
func aborted(ctx context.Context) (why AbortError, stopped bool) {
	return errors.AsType[AbortError](context.Cause(ctx))
}
