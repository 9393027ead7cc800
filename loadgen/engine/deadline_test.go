package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// taking is a Sender whose answers take so long, unless they are cut.
func taking(long time.Duration) Sender {
	return func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
		return func(yield func(Chunk, error) bool) {
			if Sleep(ctx, time.Now().Add(long)) != nil {
				yield(Chunk{}, record.Ended(ctx))
				return
			}
			yield(Chunk{At: time.Now(), Content: true}, nil)
		}
	}
}

// outcomes runs r until ctx ends. It gives each record as its load, index, turn,
// class and end, and the error.
func outcomes(ctx context.Context, r *Run) (got []string, failed error) {
	for rec, err := range r.Records(ctx) {
		if err != nil {
			failed = err
			continue
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s%d.%d %v %s", rec.Run, rec.Index, rec.Turn, rec.Times.End, rec.Result.Class)))
	}
	slices.Sort(got)
	return got, failed
}

// talks are conversations of so many turns.
func talks(n, turns int) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for range n {
			if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, turns)}, nil) {
				return
			}
		}
	}
}

func TestWhatIsInFlightAfterTheLastSendHasALimit(t *testing.T) {
	load := func(run string, limit, long time.Duration) Load {
		return Load{Run: run, Source: prompts(3), Schedule: every(time.Second), DrainLimit: limit, Target: Target{Encode: encodeID, Send: taking(long)}}
	}
	endless := load("a", 4*time.Second, 5*time.Second)
	endless.Source, endless.Stop = prompts(1000), 3*time.Second
	waiting := load("a", 4*time.Second, 4500*time.Millisecond)
	waiting.Concurrency = 1
	old := load("a", 2*time.Second, time.Hour)
	old.Lasts = time.Minute
	turns := load("a", 2500*time.Millisecond, time.Second)
	turns.Source = talks(1, 9)
	warm := load("a", 2*time.Second, time.Hour)
	warm.WarmUp = WarmUp{Lasts: 500 * time.Millisecond, Source: prompts(1000), Schedule: every(time.Second)}
	for _, test := range []struct {
		name  string
		loads []Load
		want  []string
	}{
		{"by load", []Load{load("a", 4*time.Second, 5*time.Second), load("b", 0, 9*time.Second)},
			[]string{"a0.0 5s", "a1.0 6s", "a2.0 6s overdue", "b0.0 9s", "b1.0 10s", "b2.0 11s"}},
		{"after the duration", []Load{endless}, []string{"a0.0 5s", "a1.0 6s", "a2.0 6s overdue"}},
		{"from the last one's slot on", []Load{waiting}, []string{"a0.0 4.5s", "a1.0 9s", "a2.0 13s overdue"}},
		{"not from the end of the last gap", []Load{old}, []string{"a0.0 4s overdue", "a1.0 4s overdue", "a2.0 4s overdue"}},
		{"of conversations", []Load{turns}, []string{"a0.0 1s", "a0.1 2s", "a0.2 2.5s overdue"}},
		{"of the warm-up, too", []Load{warm}, []string{"a0.0 4.5s overdue", "a0.0 4.5s overdue", "a1.0 4.5s overdue", "a2.0 4.5s overdue"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := outcomes(t.Context(), &Run{Wait: Sleep, Loads: test.loads})
				if !slices.Equal(got, test.want) || err != nil {
					t.Errorf("got %q, %v; want %q", got, err, test.want)
				}
			})
		})
	}
}

func TestTheRunEndsAtItsDeadline(t *testing.T) {
	const long = 2500 * time.Millisecond
	for _, test := range []struct {
		name     string
		load     Load
		deadline time.Duration
		cut      bool
		want     []string
	}{
		{"in time", Load{Source: prompts(2)}, 3 * time.Second, false, []string{"0.0 2.5s", "1.0 2.5s"}},
		{"all answered before", Load{Source: prompts(2), Schedule: every(time.Second)}, 4 * time.Second, false, []string{"0.0 2.5s", "1.0 3.5s"}},
		{"one in flight", Load{Source: prompts(2), Schedule: every(time.Second)}, 3 * time.Second, true, []string{"0.0 2.5s", "1.0 3s deadline"}},
		{"none in flight", Load{Source: prompts(9), Schedule: every(time.Minute)}, 30 * time.Second, true, []string{"0.0 2.5s"}},
		{"others wait for a slot", Load{Source: prompts(9), Concurrency: 1}, 4 * time.Second, true, []string{"0.0 2.5s", "1.0 4s deadline"}},
		{"more turns to come", Load{Source: talks(1, 9)}, 4 * time.Second, true, []string{"0.0 2.5s", "0.1 4s deadline"}},
		{"before the first", Load{Source: prompts(9), Delay: time.Hour}, time.Minute, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				load, start := test.load, time.Now()
				load.Target = Target{Encode: encodeID, Send: taking(long)}
				got, err := outcomes(t.Context(), &Run{Wait: Sleep, Loads: []Load{load}, Deadline: test.deadline})
				f, _ := errors.AsType[*record.Failure](err)
				if !slices.Equal(got, test.want) || (f != nil) != test.cut {
					t.Errorf("got %q, %v; want %q", got, err, test.want)
				}
				if f != nil && (f.Class != record.Deadline || f.Error() != "cut at the run's deadline of "+test.deadline.String() || time.Since(start) != test.deadline) {
					t.Errorf("%s: %v after %v", f.Class, f, time.Since(start))
				}
			})
		})
	}
}

func TestTheDeadlineHoldsForARunThatIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		load := Load{Source: prompts(9), Concurrency: 1, Target: Target{Encode: encodeID, Send: taking(time.Hour)}}
		got, err := outcomes(ctx, &Run{Wait: Sleep, Loads: []Load{load}, Drain: time.Minute, Deadline: 10 * time.Second})
		if !slices.Equal(got, []string{"0.0 10s deadline"}) || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestAnErrorOfTheSourceIsNoDeadline(t *testing.T) {
	// The server that a source asks for tokens fails by classes, too.
	synctest.Test(t, func(t *testing.T) {
		lost := record.Failf(record.Refused, "refused")
		source := func(yield func(*dataset.Conversation, error) bool) {
			for c := range talks(maxReady+10_000, 1) {
				if !yield(c, nil) {
					return
				}
			}
			yield(nil, lost)
		}
		load := Load{Source: source, Target: Target{Encode: encodeID, Send: taking(time.Second)}}
		got, err := outcomes(t.Context(), &Run{Wait: Sleep, Loads: []Load{load}, Drain: time.Minute, Deadline: time.Hour})
		if i := slices.IndexFunc(got, func(s string) bool { return !strings.HasSuffix(s, " 1s") }); !errors.Is(err, lost) || len(got) == 0 || i >= 0 {
			t.Errorf("%d records, %v", len(got), err)
		}
	})
}
