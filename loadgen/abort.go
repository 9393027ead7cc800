package loadgen

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/record"
)

// abortFrom is the number of requests that must end before the rule looks at their share of
// failures.
const abortFrom = 20

// An AbortRule says how many requests may fail before a run aborts. The zero value never aborts.
type AbortRule struct {
	// Text is the rule as the user wrote it, 10 or 5%; empty for no rule.
	Text string

	// Count is how many may fail.
	Count int

	// Share is the percentage of ended requests that may fail. It counts instead of Count if Text
	// ends with %.
	Share float64
}

// broken reports whether that many failures among the ended requests are too many.
func (r AbortRule) broken(failed, ended int) bool {
	switch {
	case r.Text == "":
		return false
	case strings.HasSuffix(r.Text, "%"):
		return ended >= abortFrom && float64(failed)*100 > r.Share*float64(ended)
	}
	return failed > r.Count
}

// An aborter stops a run that breaks its rule. It counts the requests of all targets.
type aborter struct {
	AbortRule
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
	if a.stop == nil || !a.broken(a.failed.Requests, a.ended) {
		return
	}
	message, n := a.failed.Messages.Commonest()
	a.stop(AbortError(fmt.Sprintf("--abort-on-failures %s: %d of %s failed; %s: %s",
		a.Text, a.failed.Requests, count(a.ended, "request"), count(n, "time"), message)))
	a.stop = nil
}

// An AbortError names the rule that stopped a run, and the failures that broke it.
type AbortError string

func (e AbortError) Error() string { return "stopped by " + string(e) }

// aborted returns the reason if the rule stopped the run of that context.
func aborted(ctx context.Context) (why AbortError, stopped bool) {
	return errors.AsType[AbortError](context.Cause(ctx))
}
