package main

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
)

// A fake makes runs without a program, until it has made as many as it may.
type fake struct {
	made []string
	may  int
}

var errInterrupted = errors.New("interrupted")

func (f *fake) measure(_ context.Context, dir string, l *load, c *condition, a *about) error {
	if err := os.WriteFile(filepath.Join(dir, recordsFile), nil, 0o666); err != nil {
		return err
	}
	if len(f.made) == f.may {
		return errInterrupted
	}
	f.made = append(f.made, fmt.Sprint(l.name, " ", c.name, " ", a.Seed))
	a.Verdict = "VALID: all is well"
	return nil
}

func TestRunsGoOnAfterAnInterruption(t *testing.T) {
	p := &plan{runs: 2, loads: loads[:2], conditions: conditions[:2], set: check, seed: 7, talk: io.Discard}
	p.dir = t.TempDir()
	first := &fake{may: 3}
	if err := p.complete(t.Context(), first); !errors.Is(err, errInterrupted) {
		t.Fatal(err)
	}
	names, err := keptRuns(p.dir)
	if err != nil || len(names) != 3 {
		t.Fatalf("after an interruption there are %q, %v, want 3 runs", names, err)
	}
	second := &fake{may: 99}
	if err := p.complete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	all := &fake{may: 99}
	q := *p
	q.dir = t.TempDir()
	if err := q.complete(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if got := slices.Concat(first.made, second.made); len(got) != 8 || !slices.Equal(got, all.made) {
		t.Errorf("in two parts %q, want %q", got, all.made)
	}
	names, err = keptRuns(p.dir)
	if err != nil || len(names) != 8 || names[0] != filepath.FromSlash("check-7/closed16c/plain/0") {
		t.Errorf("there are %q, %v", names, err)
	}
	third := &fake{}
	if err := p.complete(t.Context(), third); err != nil || len(third.made) != 0 {
		t.Errorf("a complete folder gets %q, %v", third.made, err)
	}
}

func TestSeedsVaryTheLoadsOfASet(t *testing.T) {
	for _, l := range loads {
		tuned, seed := tune.of(l, 1, 0)
		if again, _ := tune.of(l, 2, 5); tuned != l || again != l {
			t.Errorf("%s: the set to tune by is %+v and %+v", l.name, tuned, again)
		}
		if _, other := tune.of(l, 1, 1); other == seed {
			t.Errorf("%s: two runs have one seed", l.name)
		}
		one, seed := check.of(l, 7, 0)
		same, again := check.of(l, 7, 0)
		if one != same || seed != again {
			t.Errorf("%s: the same seed gives %+v and %+v", l.name, one, same)
		}
		other, _ := check.of(l, 8, 0)
		if one == l || one == other || one.ttft > 80 || one.itl < 2 || one.itl > 40 || one.output < 2 {
			t.Errorf("%s varies to %+v and %+v", l.name, one, other)
		}
	}
}

func TestArgumentsAreThoseOfTheLoad(t *testing.T) {
	l := loads[len(loads)-1]
	got := strings.Join(l.arguments("https://x", "out", 5), " ")
	for _, want := range []string{
		"run --base-url https://x ", " --random-output-len 20 ", " --http2 --insecure --seed 5 -o out",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestTheVerdictIsALineOfItsOwn(t *testing.T) {
	talk := "Initial test run\nSUSPECT: lag p99 9 ms\nNote:    P99 of 60 samples\n"
	if got := verdictLine(talk); got != "SUSPECT: lag p99 9 ms" {
		t.Errorf("%q", got)
	}
	if got := verdictLine("NOT VALID\n"); got != "" {
		t.Errorf("%q", got)
	}
}
