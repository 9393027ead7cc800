package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics/record"
)

// findModel checks that the server answers, and finds the model's name. It does not check a name
// that --model gives; neither does vLLM's client, which makes the same call. With a ready check it
// waits until the server is up.
func (t *target) findModel(ctx context.Context) error {
	if t.Server.Model != "" {
		t.served = cmp.Or(t.Server.ServedName, t.Server.Model)
		err := t.reach(ctx, func() error {
			if _, err := t.server.Metrics(ctx); IsDown(err) {
				return err
			}
			return nil // an error of /metrics says nothing about requests
		})
		if err != nil {
			return &FailedError{&UnreachableError{t.Target, err}}
		}
		return ctx.Err()
	}
	t.event(Event{Kind: FindingModel})
	var models []openai.Model
	err := t.reach(ctx, func() (err error) { models, err = t.server.Models(ctx); return err })
	switch {
	case IsDown(err):
		return &FailedError{&UnreachableError{t.Target, err}}
	case err != nil:
		return &FailedError{fmt.Errorf("no --model was given and the server does not say which it has: %w",
			&UnreachableError{t.Target, err})}
	case len(models) == 0:
		return &FailedError{fmt.Errorf("no --model was given and %s/v1/models lists none", t.Server.BaseURL)}
	}
	first := models[0]
	t.config.Model = cmp.Or(first.Root, first.ID)
	t.served = cmp.Or(t.Server.ServedName, first.ID)
	t.event(Event{Kind: FoundModel, Model: t.config.Model, ID: first.ID})
	return nil
}

// reach makes a call. With a ready check it repeats the call until the server is up.
func (t *target) reach(ctx context.Context, call func() error) error {
	err := call()
	for until := time.Now().Add(t.Traffic.ReadyCheck); isComing(err) && time.Now().Before(until); {
		if engine.Sleep(ctx, time.Now().Add(time.Second)) != nil {
			return ctx.Err()
		}
		err = call()
	}
	return err
}

// IsDown reports whether err means that no server is there, or that it cannot be trusted. The port
// of a container or proxy accepts connections and drops them while the server behind it starts.
func IsDown(err error) bool {
	return failed(err, record.DNS, record.Refused, record.TLS, record.Connect, record.ConnectTimeout,
		record.Timeout, record.Reset, record.Truncated)
}

// isComing reports whether err comes from a server that may soon be up: a proxy, or a server that
// loads its model, says so with a status.
func isComing(err error) bool {
	f, ok := errors.AsType[*record.Failure](err)
	switch {
	case !ok:
		return false
	case f.Class == record.Status:
		return f.Status == http.StatusBadGateway || f.Status == http.StatusServiceUnavailable ||
			f.Status == http.StatusGatewayTimeout
	}
	return IsDown(err) && f.Class != record.TLS
}

// failed reports whether err is a failure of one of the classes.
func failed(err error, classes ...record.Class) bool {
	f, ok := errors.AsType[*record.Failure](err)
	return ok && slices.Contains(classes, f.Class)
}

// unlisted says that the server does not list the model, if so: that may be why it refuses
// requests. It asks only after a refusal, since some servers answer to names that they do not list.
func (t *target) unlisted(ctx context.Context) string {
	models, err := t.server.Models(ctx)
	if err != nil || len(models) == 0 || slices.ContainsFunc(models,
		func(m openai.Model) bool { return m.ID == t.served }) {
		return ""
	}
	return fmt.Sprintf(" (%s lists %s, not %s)", t.Server.BaseURL, someOf(models), t.served)
}

// someOf names models, but only the first few of many.
func someOf(models []openai.Model) string {
	const most = 8
	var names []string
	for i, m := range models {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(models)-most))
			break
		}
		names = append(names, m.ID)
	}
	return strings.Join(names, ", ")
}
