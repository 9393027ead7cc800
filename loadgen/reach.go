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
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics/record"
)

// reach is the first stage of a load test: it makes sure that the server answers, and has the model and
// the adapters.
type reach struct {
	voice
	*contact
}

// A contact is a server that answers, with a model.
type contact struct {
	*connection
	model  string // as its tokenizer is named; empty if the server is to name it
	served string // its name in requests
}

// run returns the contact. The caller closes it.
func (r *reach) run(ctx context.Context) (*contact, error) {
	c, err := connect(r.plan)
	if err != nil {
		return nil, err
	}
	r.contact = &contact{connection: c, model: r.plan.Server.Model}
	if err = r.findModel(ctx); err == nil {
		err = r.findAdapters(ctx)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return r.contact, nil
}

// findModel checks that the server answers, and finds the model's name. It does not check a name
// that the plan gives; neither does vLLM's client, which makes the same call. With a ready check it
// waits until the server is up.
func (r *reach) findModel(ctx context.Context) error {
	s := &r.plan.Server
	if s.Model != "" {
		r.served = cmp.Or(s.ServedName, s.Model)
		err := r.until(ctx, func() error {
			if _, err := r.calls.Metrics(ctx); IsDown(err) {
				return err
			}
			return nil // an error of /metrics says nothing about requests
		})
		if err != nil {
			return &FailedError{&UnreachableError{r.plan.Target, err}}
		}
		return ctx.Err()
	}
	r.event(Event{Kind: FindingModel})
	var models []openai.Model
	err := r.until(ctx, func() (err error) { models, err = r.calls.Models(ctx); return err })
	switch {
	case IsDown(err):
		return &FailedError{&UnreachableError{r.plan.Target, err}}
	case err != nil:
		return &FailedError{fmt.Errorf("no %s was given and the server does not say which it has: %w",
			r.plan.Program.Spell(naming.Model), &UnreachableError{r.plan.Target, err})}
	case len(models) == 0:
		return &FailedError{fmt.Errorf("no %s was given and %s/v1/models lists none",
			r.plan.Program.Spell(naming.Model), s.BaseURL)}
	}
	first := models[0]
	r.model = cmp.Or(first.Root, first.ID)
	r.served = cmp.Or(s.ServedName, first.ID)
	r.event(Event{Kind: FoundModel, Model: r.model, ID: first.ID})
	return nil
}

// until makes a call. With a ready check it repeats the call until the server is up.
func (r *reach) until(ctx context.Context, call func() error) error {
	err := call()
	for until := time.Now().Add(r.plan.Traffic.ReadyCheck); IsComing(err) && time.Now().Before(until); {
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

// IsComing reports whether err comes from a server that may soon be up: a proxy, or a server that
// loads its model, says so with a status.
func IsComing(err error) bool {
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
func (c *contact) unlisted(ctx context.Context) string {
	models, err := c.calls.Models(ctx)
	if err != nil || len(models) == 0 || slices.ContainsFunc(models,
		func(m openai.Model) bool { return m.ID == c.served }) {
		return ""
	}
	return fmt.Sprintf(" (%s lists %s, not %s)", c.calls.URL, someOf(models), c.served)
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
