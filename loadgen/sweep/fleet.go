package sweep

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/dry"
	"github.com/servebench/servebench/loadgen/sweep/hold"
	"github.com/servebench/servebench/metrics"
)

// A fleet is the servers of an arm while its cells run.
type fleet struct {
	*Sweep
	arm     *Arm
	ports   ports
	servers []*process
	started *metrics.ServerStart // of all servers together; nil unless they are up
	broken  error                // why the servers did not start
}

// run makes one run. It starts the servers if they are not up.
func (b *fleet) run(ctx context.Context, job *Job) (*Outcome, error) {
	if b.Plan.Dry {
		return b.simulate(ctx, job)
	}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	for i, arg := range job.args {
		job.args[i] = b.ports.put(arg)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, p := range b.servers {
		defer context.AfterFunc(p.Ended, func() { cancel(p.died()) })()
	}
	job.started, job.servers = b.started, b.servers
	out, err := b.load(ctx, job)
	if err != nil || slices.ContainsFunc(out.Sums, func(s *metrics.Summary) bool { return s.Failed > 0 }) {
		b.awaitExit(ctx)
	}
	if died := context.Cause(ctx); died != nil {
		return nil, died
	}
	return out, err
}

// simulate makes one run without servers, in time that does not pass.
func (b *fleet) simulate(ctx context.Context, job *Job) (*Outcome, error) {
	b.ports, job.dried = ports{}, dry.Servers{}
	for _, s := range b.arm.Servers {
		server, err := b.ports.server(s)
		if err != nil {
			return nil, err
		}
		servers, err := b.Plan.loads.flags.Simulate(server.words())
		if err != nil {
			return nil, err
		}
		maps.Copy(job.dried, servers)
	}
	job.args = b.ports.putAll(job.args)
	return b.load(ctx, job)
}

// breath is how long a server that no longer answers may take to end.
const breath = 5 * time.Second

// awaitExit waits for a server that no longer answers to end. If it ends, that is why requests
// failed.
func (b *fleet) awaitExit(ctx context.Context) {
	for _, p := range b.servers {
		if answers(ctx, p.server.Ready) == nil {
			continue
		}
		select {
		case <-time.After(breath):
		case <-ctx.Done():
		}
		return
	}
}

// start starts the arm's servers, unless they are up. After a failure it does not try
// again in this block.
func (b *fleet) start(ctx context.Context) error {
	if b.broken != nil {
		return b.broken
	}
	if len(b.servers) > 0 && !slices.ContainsFunc(b.servers, func(p *process) bool { return p.Ended.Err() != nil }) {
		return nil
	}
	b.stop()
	b.ports = ports{}
	if len(b.arm.Servers) == 0 {
		return nil
	}
	b.say("starting %s", b.arm.Name)
	began := time.Now()
	for i := range b.arm.Servers {
		p, err := b.startOne(ctx, i)
		if err != nil {
			b.stop()
			b.broken = err
			return err
		}
		b.servers = append(b.servers, p)
	}
	b.started = &metrics.ServerStart{ID: rand.Text(), By: "sweep", Began: began}
	b.say("%s was ready after %.1f s", b.arm.Name, time.Since(began).Seconds())
	return nil
}

// startOne starts the i-th server and waits until it answers.
func (b *fleet) startOne(ctx context.Context, i int) (*process, error) {
	server, err := b.ports.server(b.arm.Servers[i])
	if err != nil {
		return nil, err
	}
	log, err := b.logOf(b.arm, i)
	if err != nil {
		return nil, err
	}
	p := &process{server: server, log: log}
	if err := p.unused(); err != nil {
		return nil, err
	}
	if err := p.start(b.journal.keeper); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	if err := p.await(ctx); err != nil {
		p.End()
		return nil, err
	}
	return p, nil
}

// stop stops the servers, the last one first.
func (b *fleet) stop() {
	for i := len(b.servers) - 1; i >= 0; i-- {
		b.servers[i].End()
	}
	b.servers, b.started = nil, nil
}

// prepare does what the plan asks for between runs, except resetting the prefix cache: see reset.
func (b *fleet) prepare(ctx context.Context) error {
	if len(b.Plan.Between.Command) > 0 {
		if err := b.between(ctx); err != nil {
			return err
		}
	}
	if b.Plan.Between.Pause == 0 {
		return nil
	}
	b.say("pausing for %s", b.Plan.Between.Pause)
	select {
	case <-time.After(b.Plan.Between.Pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// between runs the command between runs to its end.
func (b *fleet) between(ctx context.Context) error {
	var printed bytes.Buffer
	h, err := b.journal.keeper.Start(&hold.Command{
		Args: b.ports.putAll(b.Plan.Between.Command), Grace: betweenGrace, Output: &printed,
		Env: append(os.Environ(), "SERVEBENCH_ARM="+b.arm.Name, "SERVEBENCH_URL="+b.ports.put(b.arm.URL)),
	})
	if err != nil {
		return fmt.Errorf("the command between runs: %w", err)
	}
	var late error
	select {
	case <-h.Ended.Done():
	case <-ctx.Done():
	case <-time.After(b.Plan.Between.Within):
		late = fmt.Errorf("it has not ended within %v", b.Plan.Between.Within)
	}
	h.End()
	if why := cmp.Or(late, h.Err()); why != nil {
		return fmt.Errorf("the command between runs: %w: %s", why, ending(printed.Bytes()))
	}
	return ctx.Err()
}
