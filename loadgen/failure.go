package loadgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/servebench/servebench/metrics"
)

// A Failure says how a request failed.
type Failure struct {
	Class metrics.Class
	Err   error // the server's own message where there is one
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// failure makes a *Failure.
func failure(class metrics.Class, format string, args ...any) *Failure {
	return &Failure{Class: class, Err: fmt.Errorf(format, args...)}
}

// ended gives why ctx ended, nil if it has not: a limit passed, or we were
// stopped.
func ended(ctx context.Context) *Failure {
	if ctx.Err() == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](context.Cause(ctx)); ok {
		return f
	}
	return failure(metrics.Cancelled, "cut because the run was stopped")
}

// failure says why net/http gave err instead of a reply.
func (t *trace) failure(ctx context.Context, err error) *Failure {
	if f := ended(ctx); f != nil {
		return f
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	sent, replied := t.reached()
	switch {
	case !sent && isTimeout(err):
		return failure(metrics.Connect, "timed out: %w", err)
	case !sent:
		return failure(metrics.Connect, "%w", err)
	case replied && !isCut(err):
		return failure(metrics.Malformed, "%w", err)
	}
	return failure(metrics.Truncated, "the connection was cut before the reply: %w", err)
}

// cutOff says why reading an answer gave err before its end.
func cutOff(ctx context.Context, err error) *Failure {
	if f := ended(ctx); f != nil {
		return f
	}
	if isCut(err) {
		return failure(metrics.Truncated, "the connection was cut in the middle of the answer: %w", err)
	}
	return failure(metrics.Malformed, "the answer makes no sense: %w", err)
}

// isCut tells a connection that broke from bytes that make no sense.
func isCut(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &network)
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
