package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics"
)

// findAdapters checks that the server has the plan's adapters. Some servers load an adapter when it
// is asked for, and do not list it before: such an adapter gets the shortest request.
func (r *reach) findAdapters(ctx context.Context) error {
	names := metrics.Distinct(r.plan.Workload.Adapters.Names)
	if len(names) == 0 {
		return nil
	}
	var models []openai.Model
	err := r.until(ctx, func() (err error) { models, err = r.calls.Models(ctx); return err })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case IsDown(err):
		return &FailedError{&UnreachableError{r.plan.Target, err}}
	case err != nil:
		r.say("WARNING: %s is not checked: the server does not say what it has: %v",
			r.plan.Program.Spell(naming.Adapters), err)
		return nil
	}
	var missing []openai.Model
	why := ""
	for _, name := range names {
		if slices.ContainsFunc(models, func(m openai.Model) bool { return m.ID == name }) {
			continue
		}
		if err := r.askAdapter(ctx, name); err != nil {
			missing, why = append(missing, openai.Model{ID: name}), cmp.Or(why, err.Error())
		}
	}
	if len(missing) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	return &FailedError{fmt.Errorf("%s: %s does not have %s: it lists %s, and answers: %s",
		r.plan.Program.Argument(naming.Adapters), r.plan.Server.BaseURL, someOf(missing),
		cmp.Or(someOf(models), "nothing"), why)}
}

// adapterLimit is how long a server may take to load an adapter that it does not list.
const adapterLimit = time.Minute

// askAdapter sends the shortest request to an adapter. It fails if the server refuses it, and only warns
// if the API has no such request.
func (r *reach) askAdapter(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, adapterLimit)
	defer cancel()
	turn := shortest()
	body, err := newBodyEncoder(r.plan, name).encode(&turn, "")
	if err != nil { // the API has no short request, as one for a transcription needs a file
		r.say("WARNING: the server does not list the adapter %s", name)
		return nil
	}
	to := engine.Target{Send: r.send}
	rec := to.Once(ctx, &engine.Request{Body: body, NoText: true})
	if rec.Result.Status == http.StatusOK {
		r.say("the server does not list the adapter %s, and answers for it", name)
		return nil
	}
	return errors.New(cmp.Or(rec.Result.Error, "no answer within "+adapterLimit.String()))
}
