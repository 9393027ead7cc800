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
	"testing"

	"github.com/servebench/servebench/metrics"
)

// sweepOf is a sweep whose runs are made by load alone.
func sweepOf(t *testing.T, dir string, p *Plan, load func(context.Context, *Job) (*Outcome, error)) *Sweep {
	t.Helper()
	p.loads.flags.Load = func(args, varied []string) (*Load, error) {
		l, err := anyLoad(args, varied)
		l.Run = load
		return l, err
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return &Sweep{Plan: p, Dir: dir, Talk: io.Discard, journal: opened(t, dir, p), log: log}
}

// summary is that of a run with one request of a TTFT in seconds.
func summary(ttft float64) *Outcome {
	s := &metrics.Summary{Header: &metrics.Header{Run: "r"}, Completed: 1}
	s.TTFT.Add(ttft)
	return &Outcome{Sums: []*metrics.Summary{s}}
}

func TestFailedRunsAreTriedAgainNextTime(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "grid: {num-prompts: [1, 2, 3]}")
	var made []string
	broken := true
	load := func(_ context.Context, job *Job) (*Outcome, error) {
		made = append(made, job.name)
		if broken && job.cell.point == 1 {
			return nil, errors.New("no server")
		}
		return summary(0), nil
	}
	for _, want := range []string{"num-prompts 1|num-prompts 2|num-prompts 3", "num-prompts 2", ""} {
		s := sweepOf(t, dir, p, load)
		if err := s.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.journal.Close()
		if got := strings.Join(made, "|"); got != want {
			t.Errorf("made %s, want %s", got, want)
		}
		made, broken = nil, false
	}
}

// A search that is stopped after each of its runs makes the same runs, with the
// same seeds, as one that is not.
// More repeats of the same experiment go on in its folder, for every order of the runs.
func TestMoreRepeatsGoOn(t *testing.T) {
	const file = "seed: 2\norder: %s\nrepeats: %d\ngrid: {num-prompts: [1, 2, 3]}\narms: [{name: a, url: 'http://h'}, {name: b, url: 'http://i'}]"
	for _, order := range []Order{ABBA, Random, Given} {
		once := func(dir string, repeats int) (made []string) {
			s := sweepOf(t, dir, parse(t, fmt.Sprintf(file, order, repeats)), func(_ context.Context, job *Job) (*Outcome, error) {
				made = append(made, fmt.Sprintf("%v %s", job.cell, job.args))
				return summary(0), nil
			})
			if err := s.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !s.over() {
				t.Errorf("%s: there are runs left", order)
			}
			s.journal.Close()
			return made
		}
		dir := t.TempDir()
		inTurns := append(once(dir, 2), once(dir, 4)...)
		if atOnce := once(t.TempDir(), 4); len(atOnce) != 24 || !slices.Equal(inTurns, atOnce) {
			t.Errorf("%s: made %q, want %q", order, inTurns, atOnce)
		}
		if made := once(dir, 3); made != nil {
			t.Errorf("%s: fewer repeats made %q", order, made)
		}
	}
}

func TestSearchGoesOnWhereItWasStopped(t *testing.T) {
	p := parse(t, "seed: 3\nuntil: {flag: request-rate, from: 1, to: 40, slo: {mean-ttft: 100}}")
	search := func(dir string, stopAfter int) (runs []string, found float64) {
		for range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			s := sweepOf(t, dir, p, func(_ context.Context, job *Job) (*Outcome, error) {
				if n++; n > stopAfter {
					cancel()
					return nil, ctx.Err()
				}
				runs = append(runs, fmt.Sprint(job.args))
				return summary(*job.value * 0.006), nil
			})
			err := s.do(ctx)
			end, known := s.journal.history.edge(cell{})
			s.journal.Close()
			cancel()
			if err == nil {
				if !known {
					t.Error("the search ended without a result")
				}
				return runs, end.passes
			}
		}
		t.Fatal("no end")
		return nil, 0
	}
	whole, found := search(t.TempDir(), 1000)
	parts, again := search(t.TempDir(), 1)
	if !slices.Equal(whole, parts) || found != 16 || again != 16 {
		t.Errorf("found %g by %q and %g by %q", found, whole, again, parts)
	}
	slices.Sort(parts)
	if len(slices.Compact(parts)) != len(whole) {
		t.Errorf("a run was made twice: %q", whole)
	}
}

func TestEachServerHasALogOfItsOwn(t *testing.T) {
	s := &Sweep{Dir: t.TempDir()}
	seen := map[string]string{}
	for _, name := range []string{"a b", "a_b", "a/b", "a+b", "a", "a,1", "a-1"} {
		for _, servers := range []int{1, 2} {
			a := &Arm{Name: name, Servers: make([]Server, servers)}
			for i := range servers {
				log, err := s.logOf(a, i)
				if who := fmt.Sprint(name, i, servers); err != nil || seen[log] != "" || filepath.Dir(log) != filepath.Join(s.Dir, "logs") {
					t.Errorf("%s of %s is that of %s: %v", log, who, seen[log], err)
				} else {
					seen[log] = who
				}
			}
		}
	}
}

// A journal that cannot be written ends the sweep, as nothing would count.
func TestSweepEndsWithItsJournal(t *testing.T) {
	p := parse(t, "grid: {num-prompts: [1, 2, 3]}")
	runs := 0
	var s *Sweep
	s = sweepOf(t, t.TempDir(), p, func(context.Context, *Job) (*Outcome, error) {
		runs++
		s.journal.file.Close()
		return summary(0), nil
	})
	if err := s.do(t.Context()); err == nil || runs != 1 || len(s.journal.history.entries) != 0 {
		t.Errorf("%v after %d runs, of which %d count", err, runs, len(s.journal.history.entries))
	}
}

// What is to be done once a run counts is done when it does, and ends the sweep
// when it cannot be; the run still counts.
func TestCountedRunsAreInTheJournal(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "grid: {num-prompts: [1, 2, 3]}")
	full := errors.New("the disk is full")
	var s *Sweep
	counted := 0
	s = sweepOf(t, dir, p, func(context.Context, *Job) (*Outcome, error) {
		out := summary(0)
		out.Counted = func() error {
			counted++
			if lines := strings.Count(content(t, dir, journalName), "\n"); lines != 1+counted {
				t.Errorf("%d lines in the journal after %d runs", lines, counted)
			}
			if counted == 2 {
				return full
			}
			return nil
		}
		return out, nil
	})
	if err := s.do(t.Context()); err != full || counted != 2 {
		t.Errorf("%v after %d runs", err, counted)
	}
	s.journal.Close()
	if n := len(opened(t, dir, p).history.entries); n != 2 {
		t.Errorf("%d runs count", n)
	}
}

// A run whose records could not be written is forgotten, and ends the sweep.
func TestLostRecordsEndTheSweep(t *testing.T) {
	dir, p := t.TempDir(), parse(t, "grid: {num-prompts: [1, 2, 3]}")
	runs := 0
	var s *Sweep
	s = sweepOf(t, dir, p, func(_ context.Context, job *Job) (*Outcome, error) {
		runs++
		s.journal.records.WriteString("x")
		if runs == 2 {
			job.lost = errors.New("the disk is full")
			return nil, job.lost
		}
		return summary(0), nil
	})
	err := s.do(t.Context())
	if err == nil || err.Error() != "writing the record stream: the disk is full" || runs != 2 || content(t, dir, RecordsName) != "x" || len(s.journal.history.entries) != 1 {
		t.Errorf("%v after %d runs, with records %q", err, runs, content(t, dir, RecordsName))
	}
}
