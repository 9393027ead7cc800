package engine

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

const (
	firstPause   = 100 * time.Millisecond // before the second attempt; doubles each time
	longestPause = 5 * time.Second        // the most that it grows to
	longestAsked = time.Minute            // the longest pause that a server may ask for
)

// A Retry says whether requests of a load are sent again. It allows this only for a request that
// failed before a chunk of its answer came, and for a reason that may pass. The zero value sends
// each request once.
type Retry struct {
	Times int // most repeats of one request

	// Total limits a request with all its attempts and the pauses between them. Zero means no
	// limit.
	Total time.Duration
}

// passing has the classes of failures that may pass, and passingStatus the statuses. Limits on the
// answer are not among them: the server may still be working on it.
var (
	passing = []record.Class{
		record.DNS, record.Refused, record.Connect, record.ConnectTimeout, record.Reset, record.Truncated,
		record.Empty,
	}
	passingStatus = []int{
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}
)

// mayPass reports whether it is worth sending a request again that ended like this.
func mayPass(rec *record.Record) bool {
	switch {
	case rec.Answer.Chunks.Len()+rec.Answer.Blank.Len() > 0:
		return false
	case rec.Result.Class == record.Status:
		return slices.Contains(passingStatus, rec.Result.Status)
	}
	return slices.Contains(passing, rec.Result.Class)
}

// pause is how long to wait after so many attempts. err is the error of the last attempt.
func pause(tries int, err error) time.Duration {
	if f, ok := errors.AsType[*record.Failure](err); ok && f.RetryAfter > 0 {
		return min(f.RetryAfter, longestAsked)
	}
	return min(firstPause<<min(tries-1, 10), longestPause)
}

// retry sends req until an attempt succeeds or no other is allowed. The record describes the last
// attempt, except for Sent, Attempts and Reconnects.
func (t *Target) retry(ctx context.Context, epoch time.Time, req *Request, x *exchange) {
	if limit := t.Retry.Total; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, record.Failf(record.Timeout, "not finished within %v", limit))
		defer cancel()
	}
	blank, reconnects, again := *x.rec, 0, *req
	for tries := 1; ; tries++ {
		again.Attempt = tries
		err := t.attempt(ctx, epoch, &again, x)
		if reconnects += x.rec.Reconnects; tries > 1 {
			x.rec.Attempts, x.rec.Reconnects = tries+reconnects, reconnects
		}
		if tries > t.Retry.Times || !mayPass(x.rec) || !x.rest(ctx, pause(tries, err)) {
			return
		}
		*x.rec = blank
	}
}

// rest waits before the next attempt and reports whether it is allowed: not after the run was
// stopped. If the request was cut during the pause, the record says so.
func (x *exchange) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-x.going.Done():
	}
	f := record.Ended(ctx)
	if f == nil {
		f = overtime(x.going)
	}
	if f != nil {
		x.rec.Result.Class, x.rec.Result.Error = f.Class, f.Error()+", in a pause after: "+x.rec.Result.Error
		return false
	}
	return x.going.Err() == nil
}
