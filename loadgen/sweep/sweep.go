package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A Sweep does what a plan says and its journal has not yet. All fields must be
// set.
type Sweep struct {
	Plan    *Plan
	Journal *Journal

	// Load makes one run and writes its record stream to the journal's Records.
	// An error means that there are no numbers.
	Load func(ctx context.Context, job *Job) (*metrics.Summary, error)

	// Holder makes the command that runs h in a process of its own, by h.Run.
	Holder func(h *Holder) (*exec.Cmd, error)

	// Say is told what is being done.
	Say func(format string, args ...any)
}

// A Job is one run to be made.
type Job struct {
	Cell  Cell
	Name  string   // of the cell, in words, with the value of a search
	Args  []string // command line of the run
	Notes []string // what Load wants to be known beside the numbers

	value *float64 // of a search
}

// Do runs all that is left to run. A run that fails is taken down as such, and
// the others go on; the error is what ends the whole sweep, ctx for one.
func (s *Sweep) Do(ctx context.Context) error {
	for _, block := range s.Plan.Blocks() {
		if err := s.block(ctx, block); err != nil {
			return err
		}
	}
	return nil
}

// next is the run that a cell lacks, nil when it lacks none or the last failed.
func (s *Sweep) next(c Cell) *Job {
	past := s.Journal.Of(s.Plan.Key(c))
	if n := len(past); n > 0 && past[n-1].Failed != "" {
		return nil
	}
	job := &Job{Cell: c, Name: s.Plan.Describe(c), Args: s.Plan.Args(c, len(past))}
	search := s.Plan.Search
	if search == nil {
		if len(past) > 0 {
			return nil
		}
		return job
	}
	value, _, over := search.Next(probes(past))
	if over {
		return nil
	}
	job.value = &value
	job.Args = append(job.Args, search.Args(value)...)
	job.Name += fmt.Sprintf(", %s %g", search.Flag, value)
	return job
}

// probes are the runs of a cell as its search sees them.
func probes(entries []Entry) []Probe {
	var probes []Probe
	for _, e := range entries {
		if e.Value != nil && e.Failed == "" {
			probes = append(probes, Probe{*e.Value, e.Held})
		}
	}
	return probes
}

// Found is the highest value at which the limits hold in a cell; NaN when they
// hold at none. It is not known before the search is over.
func (s *Sweep) Found(c Cell) (best float64, known bool) {
	_, best, over := s.Plan.Search.Next(probes(s.Journal.Of(s.Plan.Key(c))))
	if !over {
		return math.NaN(), false
	}
	return best, true
}

// block runs the cells of one arm and repeat, with the arm's servers up.
func (s *Sweep) block(ctx context.Context, cells []Cell) error {
	b := &block{Sweep: s, arm: &s.Plan.Arms[cells[0].Arm]}
	defer b.stop()
	for _, c := range cells {
		for job := s.next(c); job != nil; job = s.next(c) {
			began := time.Now()
			e := Entry{Cell: s.Plan.Key(c), Value: job.value}
			sum, err := b.run(ctx, job)
			if ctx.Err() != nil {
				return errors.Join(context.Cause(ctx), s.Journal.rollback())
			}
			e.Seconds, e.Notes = time.Since(began).Seconds(), job.Notes
			if err != nil {
				e.Failed = err.Error()
				s.Say("FAILED: %s: %s", job.Name, e.Failed)
			} else {
				e.Run = sum.Header.Run
				if search := s.Plan.Search; search != nil {
					e.Held, e.Broke = search.Holds(sum)
				}
			}
			if err := s.Journal.add(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// A block is the servers of an arm while its cells are run.
type block struct {
	*Sweep
	arm     *Arm
	ports   ports
	servers []*process
	broken  error // why the servers could not be started
}

// run makes one run on the servers, which are started where they are not up.
func (b *block) run(ctx context.Context, job *Job) (*metrics.Summary, error) {
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
			case <-p.done:
				cancel(p.died())
			case <-ended:
			}
		}()
	}
	sum, err := b.Load(ctx, job)
	if err != nil || sum.Failed > 0 {
		b.lastBreath(ctx)
	}
	if died := context.Cause(ctx); died != nil {
		return nil, died
	}
	return sum, err
}

// breath is how long after a failed request a server may take to be seen dead.
const breath = 500 * time.Millisecond

// lastBreath waits whether the servers of a run in which something failed turn
// out to have died, which is then the reason.
func (b *block) lastBreath(ctx context.Context) {
	if len(b.servers) == 0 {
		return
	}
	select {
	case <-time.After(breath):
	case <-ctx.Done():
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
	for i := range b.arm.Servers {
		if i == 0 {
			b.Say("starting %s", b.arm.Name)
		}
		p, err := b.startOne(ctx, i)
		if err != nil {
			b.stop()
			b.broken = err
			return err
		}
		b.servers = append(b.servers, p)
	}
	return nil
}

func (b *block) startOne(ctx context.Context, i int) (*process, error) {
	server := &b.arm.Servers[i]
	texts := append(append([]string{b.arm.URL, server.Ready}, server.Command...), server.Stop...)
	for _, value := range server.Env {
		texts = append(texts, value)
	}
	if err := b.ports.find(texts...); err != nil {
		return nil, err
	}
	log, err := b.logOf(b.arm, i)
	if err != nil {
		return nil, err
	}
	return b.startServer(ctx, server, b.ports, log)
}

// up says whether all servers still run.
func (b *block) up() bool {
	for _, p := range b.servers {
		select {
		case <-p.done:
			return false
		default:
		}
	}
	return true
}

// stop stops the servers, the last first.
func (b *block) stop() {
	for i := len(b.servers) - 1; i >= 0; i-- {
		b.servers[i].stop()
	}
	b.servers = nil
}

// prepare does what the plan has between runs. The prefix cache is Load's to
// reset, which knows how to speak to the server.
func (b *block) prepare(ctx context.Context) error {
	if words := b.Plan.Between.Command; len(words) > 0 {
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Env = append(os.Environ(), "SERVEBENCH_ARM="+b.arm.Name, "SERVEBENCH_URL="+b.ports.put(b.arm.URL))
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("the command between runs: %w: %s", err, bytes.TrimSpace(out))
		}
	}
	if b.Plan.Between.Pause == 0 {
		return nil
	}
	select {
	case <-time.After(b.Plan.Between.Pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
