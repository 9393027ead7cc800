package loadtest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/report/comparison"
)

// A Baseline is an earlier result of a load, and how much worse the new one may be.
type Baseline struct {
	File string // as compare.Baseline.Write and servebench compare --save-baseline write it
	// Gate is nil for gating.Default. An empty Unit means gating.PerRun: a test most often has
	// one start of a server, and decides on that one only.
	Gate *gating.Gate
	Runs int // of the load; 0 means as many as in the file
}

// TestAgainst runs the load several times until the test's context ends, and fails the test unless
// the gate says PASS. NO VERDICT also fails it: there are too few runs, or the load differs from
// the baseline's. It ends the test if it cannot read the file or run the load. Use Compare to treat
// the verdicts differently.
func (l *Load) TestAgainst(t testing.TB, b Baseline) *compare.Comparison {
	t.Helper()
	c, err := l.Compare(t.Context(), b)
	if err != nil {
		t.Fatalf("nothing was compared: %v", err)
	}
	var text strings.Builder
	comparison.Text(&text, c) // a builder accepts everything
	say := t.Errorf
	if c.Verdict == compare.Pass {
		say = t.Logf
	}
	say("%s against %s:\n%s", c.Verdict, b.File, &text)
	return c
}

// Compare runs the load several times and compares the results with the baseline.
func (l *Load) Compare(ctx context.Context, b Baseline) (*compare.Comparison, error) {
	old, err := compare.OpenBaseline(b.File)
	if err != nil {
		return nil, err
	}
	gate := gating.Default()
	if b.Gate != nil {
		gate = *b.Gate
	}
	gate.Unit = cmp.Or(gate.Unit, gating.PerRun)
	kept, n := old.Runs(), b.Runs
	if n == 0 {
		n = len(kept)
	}
	runs, err := l.Repeat(ctx, n, gate.Extra()...)
	if err != nil {
		return nil, err
	}
	return compare.Compare(kept, runs, gate), nil
}

// Repeat runs the load n times, one after the other, and returns what a comparison needs of each
// run: the numbers of numbers.All and the extra ones. The first run has the Load's Seed and
// each later one the next seed, so no prompt is already in the server's prefix cache, unless a
// Source repeats it.
func (l *Load) Repeat(ctx context.Context, n int, extra ...metrics.Number) ([]*brief.Run, error) {
	if n < 1 {
		return nil, fmt.Errorf("runs %d: there must be at least 1", n)
	}
	var runs []*brief.Run
	for i := range n {
		again := *l
		again.Seed += int64(i)
		s, err := again.Run(ctx)
		if err != nil {
			return nil, fmt.Errorf("run %d of %d: %w", i+1, n, err)
		}
		runs = append(runs, brief.Runs([]*metrics.Summary{s}, extra...)...)
	}
	return runs, nil
}
