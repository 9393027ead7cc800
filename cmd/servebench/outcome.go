package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// The ends of a run under --strict.
var (
	errSuspect    = errors.New("--strict: the numbers are SUSPECT")
	errOverloaded = errors.New("--strict: the server is OVERLOADED")
)

// outcome is the exit code of what was done, and why.
func (e *experiment) outcome(ctx context.Context) error {
	for _, r := range e.done {
		if r.Interrupted {
			of := fmt.Sprintf(" of %d", r.Requests)
			if r.Requests < 0 {
				of = ""
			}
			return exitError{targeted(r, fmt.Errorf("interrupted after %d%s requests", r.Completed+r.Failed, of)), exitInterrupted}
		}
	}
	if n := e.trials(); ctx.Err() != nil && len(e.done) < n {
		return exitError{fmt.Errorf("interrupted after %d of %d runs", len(e.done), n), exitInterrupted}
	}
	for _, r := range e.done {
		if err := failure(r); err != nil {
			return exitError{err, exitNo}
		}
	}
	for _, r := range e.done {
		if err := strict(r.Summary); e.Results.Strict && err != nil {
			return exitError{targeted(r, err), exitNoVerdict}
		}
	}
	return nil
}

// targeted puts the name of the target before an error about it.
func targeted(r *loadgen.Result, err error) error {
	if r.Plan.Target == "" {
		return err
	}
	return fmt.Errorf("target %s: %w", r.Plan.Target, err)
}

// failure says why a run that was not interrupted came to nothing, if it did.
func failure(r *loadgen.Result) error {
	switch {
	case r.Completed > 0:
		return nil
	case r.Failed == 0:
		return targeted(r, errors.New("no request was sent: none was due, or had a slot, before the end"))
	}
	message, n := r.Commonest()
	if advice := (&adviser{r.Plan, r.TokenIDs}).about(message); advice != "" {
		message += ": " + advice
	}
	return targeted(r, fmt.Errorf("all of %s failed; %s: %s%s", count(r.Failed, "request"), count(n, "time"), message, r.Unlisted))
}

// strict is why --strict lets no run like s pass, nil where it does.
func strict(s *metrics.Summary) error {
	if s.Trust == nil {
		return nil
	}
	return map[metrics.Verdict]error{metrics.Suspect: errSuspect, metrics.Overloaded: errOverloaded}[s.Trust.Verdict]
}
