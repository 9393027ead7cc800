package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A Sweep does what a plan says and its journal has not yet. All fields must be
// set. While it runs, it takes children of this process that are of other sessions
// for what its servers have left; see hold.Keeper.
type Sweep struct {
	Plan    *Plan
	Journal *Journal

	// Load makes one run and writes its record stream to the journal's Records.
	// An error means that there are no numbers.
	Load func(ctx context.Context, job *Job) (*Outcome, error)

	// Mask hides secrets in what is written down of failures; nil hides nothing.
	Mask func(text string) string

	// Say is told what is being done.
	Say func(format string, args ...any)
}

// An Outcome is what a run came to.
type Outcome struct {
	Run  string             // by which it is found in the record stream: the run's id, or the group's where there are several targets
	Sums []*metrics.Summary // one for each target

	// Counted is called once the run is in the journal; nil does nothing. Its
	// error ends the sweep.
	Counted func() error
}

// A StorageError of a Load says that a sweep's folder cannot be written to. It
// ends the sweep, as nothing more would count.
type StorageError struct{ Err error }

func (e *StorageError) Error() string { return "writing the record stream: " + e.Err.Error() }

// Unwrap is what kept it from being written.
func (e *StorageError) Unwrap() error { return e.Err }

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
	s.Journal.keeper.TakeOver()
	for _, block := range s.Plan.Blocks() {
		if err := s.block(ctx, block); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sweep) mask(text string) string {
	if s.Mask == nil {
		return text
	}
	return s.Mask(text)
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
	value, over := search.Next(probes(past))
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
			probes = append(probes, Probe{*e.Value, e.Passed, e.Broke})
		}
	}
	return probes
}

// Found is what the search of a cell came to. It is not known before the search is over.
func (s *Sweep) Found(c Cell) (found Found, known bool) {
	history := probes(s.Journal.Of(s.Plan.Key(c)))
	if _, over := s.Plan.Search.Next(history); !over {
		return Found{}, false
	}
	return s.Plan.Search.Found(history), true
}

// block runs the cells of one arm and repeat, with the arm's servers up.
func (s *Sweep) block(ctx context.Context, cells []Cell) error {
	b := &block{Sweep: s, arm: &s.Plan.Arms[cells[0].Arm]}
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

// once makes one run and takes it down.
func (s *Sweep) once(ctx context.Context, b *block, job *Job) error {
	began := time.Now()
	e := Entry{Cell: s.Plan.Key(job.Cell), Value: job.value}
	out, err := b.run(ctx, job)
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), s.Journal.rollback())
	}
	if _, lost := errors.AsType[*StorageError](err); lost {
		return errors.Join(err, s.Journal.rollback())
	}
	e.Seconds, e.Notes = time.Since(began).Seconds(), job.Notes
	if err != nil {
		e.Failed = s.mask(err.Error())
		s.Say("FAILED: %s: %s", job.Name, e.Failed)
		return s.Journal.add(e)
	}
	e.Run = out.Run
	if search := s.Plan.Search; search != nil {
		if e.Passed, e.Broke = search.Passes(out.Sums...); e.Passed {
			s.Say("  passed")
		} else {
			s.Say("  failed: %s", e.Broke)
		}
	}
	if err := s.Journal.add(e); err != nil || out.Counted == nil {
		return err
	}
	return out.Counted()
}
