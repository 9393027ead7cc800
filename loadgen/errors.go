package loadgen

import (
	"context"
	"errors"
	"fmt"
)

// A FailedError means that the Plan is fine but the run failed, or ended early. Any other error of
// Run says what is wrong with the Plan.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return e.Err.Error() }

func (e *FailedError) Unwrap() error { return e.Err }

// An UnreachableError means that the server does not answer, or does not say which model it has. A
// FailedError wraps it.
type UnreachableError struct {
	Target string // empty for a single one
	Err    error  // a Failure of the call
}

func (e *UnreachableError) Error() string { return e.Err.Error() }

func (e *UnreachableError) Unwrap() error { return e.Err }

// ErrInterrupted means that the context of a run ended before its load began.
var ErrInterrupted = errors.New("interrupted before the load began")

// interrupted replaces err by ErrInterrupted if ctx has ended.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// failedAs is a FailedError with a text in front; nil for a nil error.
func failedAs(what string, err error) error {
	if err == nil {
		return nil
	}
	return &FailedError{fmt.Errorf("%s: %w", what, err)}
}

// A maskedError is an error with all secrets masked in its text.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

func (e *maskedError) Unwrap() error { return e.err }

// masked hides the secrets of plans in what an error says.
func masked(err error, plans ...*Plan) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, p := range plans {
		text = p.Server.Secrets.Mask(text)
	}
	if text == err.Error() {
		return err
	}
	return &maskedError{text, err}
}
