package loadtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report"
)

// A Baseline is what a load came to before, and by how much it may be worse now.
type Baseline struct {
	File string        // as compare.Baseline.Write and servebench compare --save-baseline write it
	Gate *compare.Gate // nil for compare.DefaultGate; its Noise is not used, the file has its own
	Runs int           // of the load; 0 means as many as the file has
}

// TestAgainst puts the load on several times until the test's context ends, and
// fails the test unless the gate lets it pass: also where there is no verdict, as of
// too few runs or another load than the baseline's. It ends the test where the file
// cannot be read or the load not be put on. To do something else of no verdict, use
// Compare.
func (l *Load) TestAgainst(t testing.TB, b Baseline) *compare.Comparison {
	t.Helper()
	c, err := l.Compare(t.Context(), b)
	if err != nil {
		t.Fatalf("nothing was compared: %v", err)
	}
	var text strings.Builder
	report.Comparison(&text, c) // a builder takes everything
	say := t.Errorf
	if c.Verdict == compare.Pass {
		say = t.Logf
	}
	say("%s against %s:\n%s", c.Verdict, b.File, &text)
	return c
}

// Compare puts the load on several times and compares what came of it with the
// baseline.
func (l *Load) Compare(ctx context.Context, b Baseline) (*compare.Comparison, error) {
	old, err := b.read()
	if err != nil {
		return nil, err
	}
	gate := compare.DefaultGate()
	if b.Gate != nil {
		gate = *b.Gate
	}
	gate.Noise = old.Noise
	n := b.Runs
	if n == 0 {
		n = len(old.Runs)
	}
	runs, err := l.Repeat(ctx, n, gate.Extra()...)
	if err != nil {
		return nil, err
	}
	return compare.Compare(old.Runs, runs, gate), nil
}

func (b *Baseline) read() (*compare.Baseline, error) {
	f, err := os.Open(b.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	old, err := compare.ReadBaseline(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.File, err)
	}
	return old, nil
}

// Repeat puts the load on n times, one after the other, and gives what a comparison
// needs of each, with the numbers called extra beside those of compare.Metrics. The
// runs have one seed after another from Seed on, so that no prompt is in a server's
// prefix cache before, unless a Source has it again.
func (l *Load) Repeat(ctx context.Context, n int, extra ...compare.Metric) ([]*compare.Run, error) {
	if n < 1 {
		return nil, fmt.Errorf("runs %d: there must be at least 1", n)
	}
	var runs []*compare.Run
	for i := range n {
		again := *l
		again.Seed += int64(i)
		s, err := again.Run(ctx)
		if err != nil {
			return nil, fmt.Errorf("run %d of %d: %w", i+1, n, err)
		}
		runs = append(runs, compare.Runs([]*metrics.Summary{s}, extra...)...)
	}
	return runs, nil
}
