package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sweep/hold"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report/screen"
)

// A Sweep makes the runs of a plan that are missing in its folder.
type Sweep struct {
	Plan *Plan
	Dir  string // folder of the journal, the records and the tables

	// Numbers are the columns of the table; nil for the usual ones.
	Numbers []metrics.Number

	Out  io.Writer // takes the result blocks and the table
	Talk io.Writer // takes progress and warnings

	journal  *journal
	log      *os.File            // messages of single runs
	evidence evidence            // of a sequential sweep
	decision *compare.Comparison // of a sequential sweep, at its last look; nil before the first
}

// A Result sums up what a sweep has done so far.
type Result struct {
	Runs   int // in the journal
	Failed int // of them

	// Doubted is the first run that is not VALID although it must be, nil if there is none. Probes
	// of a search may be SUSPECT.
	Doubted *metrics.Summary

	// Open reports that a search has no verdict.
	Open bool

	// Decision is the last look of a sequential sweep, nil before the first, and for others.
	Decision *compare.Comparison
}

// Run makes all runs that are left, and writes the blocks and the table of all runs. When
// a run fails, the journal says why and the next run begins. The error is what ended the
// whole sweep, such as the end of ctx. The Result is nil if the folder could not be
// opened. While it works, Run ends children of this process that are in other sessions:
// see hold.Keeper.TakeOver.
func (s *Sweep) Run(ctx context.Context) (*Result, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.journal.Close()
	defer s.log.Close()
	err := s.do(ctx)
	r, readErr := s.read()
	if readErr == nil {
		readErr = r.write()
	}
	return &r.Result, errors.Join(err, readErr)
}

// stopMargin is how much longer servers may take to stop on a busy machine.
const stopMargin = 30 * time.Second

// open opens the folder. It waits for the sweep before this one, whose servers may still
// be stopping.
func (s *Sweep) open(ctx context.Context) error {
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return err
	}
	keeper, err := hold.Open(ctx, s.Dir, s.Plan.stopTime()+stopMargin,
		func() { s.say("waiting for another sweep in %s to end", s.Dir) })
	if err != nil {
		return err
	}
	if s.journal, err = openJournal(s.Dir, s.Plan, keeper); err != nil {
		return err
	}
	if s.Plan.Any(func(p *loadgen.Plan) bool { return p.Keep.Texts }) {
		err = s.journal.records.Chmod(0o600)
	}
	if err == nil {
		s.log, err = os.OpenFile(filepath.Join(s.Dir, "sweep.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	}
	if err != nil {
		s.journal.Close()
		return err
	}
	if n := len(s.journal.history.entries); n > 0 && s.over() {
		s.say("%s has all %s already: to make them again, choose another folder with -o, or delete this one", s.Dir,
			metrics.Counted(n, "run"))
	} else if n > 0 {
		s.say("continuing in %s after %s", s.Dir, metrics.Counted(n, "run"))
	}
	return nil
}

// over reports that no run is left.
func (s *Sweep) over() bool {
	return !slices.ContainsFunc(slices.Concat(s.journal.history.expected()...),
		func(c cell) bool { return s.next(c) != nil })
}

// do makes all runs that are left.
func (s *Sweep) do(ctx context.Context) error {
	s.journal.keeper.TakeOver()
	for i, cells := range s.Plan.blocks() {
		if err := s.block(ctx, cells); err != nil {
			return err
		}
		if s.Plan.Sequential == nil || (i+1)%len(s.Plan.Arms) > 0 {
			continue
		}
		if over, err := s.look((i + 1) / len(s.Plan.Arms)); over || err != nil {
			return err
		}
	}
	return nil
}

// block runs the cells of one arm and repeat, while the arm's servers are up.
func (s *Sweep) block(ctx context.Context, cells []cell) error {
	b := &fleet{Sweep: s, arm: &s.Plan.Arms[cells[0].arm]}
	defer b.stop()
	for _, c := range cells {
		for job := s.next(c); job != nil; job = s.next(c) {
			if err := s.once(ctx, b, job); err != nil {
				return err
			}
		}
	}
	return nil
}

// next is the next run of a cell, nil if it needs none or the last one failed.
func (s *Sweep) next(c cell) *Job {
	p, past := s.Plan, s.journal.history.runs(c)
	if n := len(past); n > 0 && past[n-1].Failed != "" {
		return nil
	}
	job := &Job{Arm: p.Arms[c.arm].Name, Log: s.log, cell: c, name: p.describe(c), args: p.args(c, len(past))}
	if p.Search == nil {
		if len(past) > 0 {
			return nil
		}
		return job
	}
	value, over := p.Search.next(probes(past))
	if over {
		return nil
	}
	job.value = &value
	job.args = append(job.args, p.Search.args(value)...)
	job.name += fmt.Sprintf(", %s %g", p.Search.Flag, value)
	return job
}

// once makes one run and records it.
func (s *Sweep) once(ctx context.Context, b *fleet, job *Job) error {
	began := time.Now()
	e := entry{Cell: s.Plan.key(job.cell), Value: job.value}
	out, err := b.run(ctx, job)
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), s.journal.rollback())
	}
	if job.lost != nil {
		return errors.Join(fmt.Errorf("writing the record stream: %w", job.lost), s.journal.rollback())
	}
	e.Seconds, e.Notes = time.Since(began).Seconds(), job.notes
	if job.started != nil {
		e.Start = job.started.ID
	}
	if err != nil {
		e.Failed = s.mask(err.Error())
		s.say("FAILED: %s: %s", job.name, e.Failed)
		return s.journal.add(e)
	}
	e.Run = runOf(out.Sums[0])
	if s.Plan.Sequential != nil {
		e.Disturbed = disturbance(out.Sums)
	}
	if search := s.Plan.Search; search != nil {
		v, why := search.judge(out.Sums...)
		e.Passed, e.Doubted, e.Broke = v == passed, v == doubted, why
		s.say("  %s", strings.TrimSuffix(e.verdict()+": "+why, ": "))
	}
	if err := s.journal.add(e); err != nil || out.Counted == nil {
		return err
	}
	return out.Counted()
}

// mask hides the secrets of all loads. A server's log may quote them.
func (s *Sweep) mask(text string) string {
	for _, load := range s.Plan.loads.of {
		text = load.Plan.Server.Secrets.Mask(text)
	}
	return text
}

func (s *Sweep) say(format string, args ...any) {
	screen.Of(s.Talk).Say(s.Talk, fmt.Sprintf(format+"\n", args...))
}
