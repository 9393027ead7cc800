package sweep

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/sweep/hold"
	"github.com/servebench/servebench/metrics"
)

// A block is the servers of an arm while its cells are run.
type block struct {
	*Sweep
	arm     *Arm
	ports   ports
	servers []*process
	broken  error // why the servers could not be started
}

// run makes one run on the servers, which are started where they are not up.
func (b *block) run(ctx context.Context, job *Job) (*Outcome, error) {
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	for i, arg := range job.Args {
		job.Args[i] = b.ports.put(arg)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	for _, p := range b.servers {
		go func() {
			select {
			case <-p.Done:
				cancel(p.died())
			case <-ended:
			}
		}()
	}
	out, err := b.Load(ctx, job)
	if err != nil || slices.ContainsFunc(out.Sums, func(s *metrics.Summary) bool { return s.Failed > 0 }) {
		b.lastBreath(ctx)
	}
	if died := context.Cause(ctx); died != nil {
		return nil, died
	}
	return out, err
}

// breath is how long a server that no longer answers may take to be seen dead.
const breath = 5 * time.Second

// lastBreath waits whether the servers of a run in which something failed turn
// out to have died, which is then the reason.
func (b *block) lastBreath(ctx context.Context) {
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

// start starts the arm's servers, unless they are up. Where that failed once it
// is not tried again in this block.
func (b *block) start(ctx context.Context) error {
	if b.broken != nil {
		return b.broken
	}
	if len(b.servers) > 0 && b.up() {
		return nil
	}
	b.stop()
	b.ports = ports{}
	if len(b.arm.Servers) == 0 {
		return nil
	}
	b.Say("starting %s", b.arm.Name)
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
	b.Say("%s was ready after %.1f s", b.arm.Name, time.Since(began).Seconds())
	return nil
}

func (b *block) startOne(ctx context.Context, i int) (*process, error) {
	server, err := b.ports.server(b.arm.Servers[i])
	if err != nil {
		return nil, err
	}
	log, err := b.logOf(b.arm, i)
	if err != nil {
		return nil, err
	}
	return b.startServer(ctx, server, log)
}

// up says whether all servers still run.
func (b *block) up() bool {
	for _, p := range b.servers {
		select {
		case <-p.Done:
			return false
		default:
		}
	}
	return true
}

// stop stops the servers, the last first.
func (b *block) stop() {
	for i := len(b.servers) - 1; i >= 0; i-- {
		b.servers[i].End()
	}
	b.servers = nil
}

// prepare does what the plan has between runs. The prefix cache is Load's to
// reset, which knows how to speak to the server.
func (b *block) prepare(ctx context.Context) error {
	if len(b.Plan.Between.Command) > 0 {
		if err := b.between(ctx); err != nil {
			return err
		}
	}
	if b.Plan.Between.Pause == 0 {
		return nil
	}
	b.Say("pausing for %s", b.Plan.Between.Pause)
	select {
	case <-time.After(b.Plan.Between.Pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// between runs the command between runs to its end.
func (b *block) between(ctx context.Context) error {
	var printed bytes.Buffer
	h, err := b.Journal.keeper.Start(&hold.Command{
		Args: b.ports.putAll(b.Plan.Between.Command), Grace: betweenGrace, Output: &printed,
		Env: append(os.Environ(), "SERVEBENCH_ARM="+b.arm.Name, "SERVEBENCH_URL="+b.ports.put(b.arm.URL)),
	})
	if err != nil {
		return fmt.Errorf("the command between runs: %w", err)
	}
	var late error
	select {
	case <-h.Done:
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
