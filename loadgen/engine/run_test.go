package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// prompts yields n conversations of one turn.
func prompts(n int) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for i := range n {
			c := &dataset.Conversation{ID: fmt.Sprint(i), Turns: []dataset.Turn{{PromptLen: 3, OutputLen: 2}}}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// every is a Schedule with one request each interval, the first at 0.
func every(interval time.Duration) Schedule {
	return func(yield func(time.Duration) bool) {
		for due := time.Duration(0); yield(due); due += interval {
		}
	}
}

func encodeID(c *dataset.Conversation, turn int, _ []json.RawMessage) (*Request, error) {
	return &Request{ID: c.ID, Body: []byte(c.ID)}, nil
}

// answer is a Sender that takes ttft to the first of n chunks and itl between
// chunks.
func answer(ttft, itl time.Duration, n int) Sender {
	return func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
		return func(yield func(Chunk, error) bool) {
			pause := ttft
			for range n {
				if err := Sleep(ctx, time.Now().Add(pause)); err != nil {
					yield(Chunk{}, &record.Failure{Class: record.Cancelled, Err: err})
					return
				}
				now := time.Now()
				rec.Times.Last = now.Sub(epoch)
				if !yield(Chunk{At: now, Content: true}, nil) {
					return
				}
				pause = itl
			}
		}
	}
}

func oneLoad(load Load) *Run {
	if load.Target.Encode == nil {
		load.Target.Encode = encodeID
	}
	load.Run = "r"
	return &Run{Loads: []Load{load}, Wait: Sleep}
}

func collect(t *testing.T, r *Run) []*record.Record {
	t.Helper()
	var all []*record.Record
	for rec, err := range r.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	slices.SortFunc(all, func(a, b *record.Record) int { return a.Index - b.Index })
	return all
}

func TestCancelDrainsThenCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		send := func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
			ttft := 3 * time.Second
			if req.ID == "1" {
				ttft = time.Hour
			}
			return answer(ttft, 0, 1)(ctx, epoch, req, rec)
		}
		r := oneLoad(Load{Source: prompts(100), Schedule: every(time.Second), Target: Target{Send: send}})
		r.Drain = 5 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		got := map[string]int{}
		start := time.Now()
		for rec, err := range r.Records(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got[fmt.Sprint(rec.Index, rec.Result.Class)]++
		}
		if len(got) != 3 || got["0"] != 1 || got["1cancelled"] != 1 || got["2"] != 1 {
			t.Errorf("got %v; want 0 and 2 done, 1 cancelled, nothing else sent", got)
		}
		if d := time.Since(start); d != 7500*time.Millisecond {
			t.Errorf("ended after %v, want 7.5s", d)
		}
	})
}

func TestSourceErrorEndsTheRun(t *testing.T) {
	bad := errors.New("line 4 is bad")
	for _, test := range []struct {
		name       string
		good, sent int
	}{
		{"found before the start", 3, 0},
		{"found under way, requests in flight are let finish", maxReady + 808, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			source := func(yield func(*dataset.Conversation, error) bool) {
				for c := range prompts(test.good) {
					if !yield(c, nil) {
						return
					}
				}
				yield(nil, bad)
			}
			// The queue holds maxReady at most, so the error is met when at least 808 have begun.
			r := oneLoad(Load{Source: source, Schedule: every(time.Second), Target: Target{Send: answer(10*time.Second, 0, 1)}})
			r.Drain = time.Minute
			started, ok := false, 0
			r.Started = func(time.Time) { started = true }
			var last error
			for rec, err := range r.Records(t.Context()) {
				if last = err; err == nil && rec.Result.Class == record.OK {
					ok++
				}
			}
			if started != (test.sent > 0) {
				t.Errorf("%s: the clock was started: %v", test.name, started)
			}
			if !errors.Is(last, bad) || ok < test.sent || ok == 0 != (test.sent == 0) {
				t.Errorf("%s: last error %v after %d records", test.name, last, ok)
			}
		})
	}
}

func TestBreakingOutLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(1000), Concurrency: 10, Target: Target{Send: answer(time.Second, 0, 1)}})
		for range r.Records(t.Context()) {
			break
		}
	})
}

// A million prompts at once, 300 000 without FULL=1, hold as many goroutines as there are slots, and no
// more memory than the queue's bound.
func TestMillionPromptsHoldGoroutinesAndMemoryFlat(t *testing.T) {
	n := 300_000
	switch {
	case os.Getenv("FULL") == "1":
		n = 1_000_000
	case testing.Short():
		n = 100_000
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	base := runtime.NumGoroutine()
	r := oneLoad(Load{Source: prompts(n), Schedule: every(0), Concurrency: 64, Target: Target{Send: answer(0, 0, 2)}})
	most, seen, heap := 0, 0, uint64(0)
	for _, err := range r.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen%(n/10) == 0 {
			most = max(most, runtime.NumGoroutine()-base)
			var now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&now)
			heap = max(heap, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
		}
	}
	if seen != n {
		t.Errorf("%d records, want %d", seen, n)
	}
	if limit := 64 + 16; most > limit {
		t.Errorf("%d goroutines, want at most %d", most, limit)
	}
	if limit := uint64(2 * aheadBytes); heap > limit {
		t.Errorf("heap grew by %d bytes, want at most %d", heap, limit)
	}
}

func TestCancelStopsASlowSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(yield func(*dataset.Conversation, error) bool) {
			for c, err := range prompts(5000) {
				time.Sleep(10 * time.Millisecond)
				if !yield(c, err) {
					return
				}
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Millisecond)
		defer cancel()
		start := time.Now()
		r := oneLoad(Load{Source: slow, Target: Target{Send: answer(0, 0, 1)}})
		for range r.Records(ctx) {
			t.Error("a request was sent")
		}
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("ended after %v, want 100ms", took)
		}
	})
}

func TestReadyComesBetweenTheFirstBodyAndTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		encoded, began := false, time.Now()
		r := oneLoad(Load{Source: prompts(3), Target: Target{
			Send: answer(time.Second, 0, 1),
			Encode: func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*Request, error) {
				encoded = true
				return encodeID(c, turn, nil)
			},
		}})
		r.Ready = func(context.Context, []int) error {
			if !encoded {
				t.Error("nothing was encoded yet")
			}
			time.Sleep(time.Minute) // counts for no request
			return nil
		}
		r.Started = func(epoch time.Time) {
			if took := epoch.Sub(began); took != time.Minute {
				t.Errorf("the clock started after %v, want 1m", took)
			}
		}
		for _, rec := range collect(t, r) {
			if rec.Times.Sent != 0 || rec.TTFT() != time.Second {
				t.Errorf("sent at %v, TTFT %v", rec.Times.Sent, rec.TTFT())
			}
		}
	})
}

func TestARunThatIsNotReadyDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wanted := errors.New("not ready")
		r := oneLoad(Load{Source: prompts(1000), Target: Target{Send: answer(0, 0, 1)}})
		r.Ready = func(context.Context, []int) error { return wanted }
		r.Started = func(time.Time) { t.Error("the clock started") }
		n := 0
		for rec, err := range r.Records(t.Context()) {
			if n++; rec != nil || err != wanted {
				t.Errorf("got %v, %v", rec, err)
			}
		}
		if n != 1 {
			t.Errorf("%d pairs, want the error alone", n)
		}
	})
}

func TestRunLastsAsLongAsItsLoad(t *testing.T) {
	for _, row := range []struct{ delay, lasts, want time.Duration }{
		{0, time.Second, 3 * time.Second}, {0, 7 * time.Second, 7 * time.Second}, {5 * time.Second, 7 * time.Second, 12 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			run := oneLoad(Load{Target: Target{Send: answer(3*time.Second, 0, 1)}, Source: prompts(2), Schedule: every(0), Delay: row.delay, Lasts: row.lasts})
			n := 0
			for _, err := range run.Records(t.Context()) {
				if n++; err != nil {
					t.Error(err)
				}
			}
			if took := time.Since(start); took != row.want || n != 2 {
				t.Errorf("a load that lasts %v took %v and gave %d records, want %v and 2", row.lasts, took, n, row.want)
			}
		})
	}
}

func TestStoppedRunDoesNotLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		start := time.Now()
		run := oneLoad(Load{Target: Target{Send: answer(time.Second, 0, 1)}, Source: prompts(1), Lasts: time.Minute})
		for _, err := range run.Records(ctx) {
			if err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// The clock of a run ends with its last request, however slow the consumer of its records
// is, with a limit on the requests in flight and without.
func TestConsumerDoesNotStretchTheRun(t *testing.T) {
	for _, load := range []Load{
		{Source: prompts(5), Schedule: every(time.Second), Target: Target{Send: answer(time.Second, time.Second, 2)}},
		{Source: prompts(5), Schedule: every(time.Second), Concurrency: 1, Target: Target{Send: answer(time.Second, time.Second, 2)}},
		{Source: prompts(5), Concurrency: 2, Target: Target{Send: answer(time.Second, time.Second, 2)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var epoch, ended time.Time
			run := oneLoad(load)
			run.Started, run.Ended = func(at time.Time) { epoch = at }, func(at time.Time) { ended = at }
			var last time.Duration
			for rec, err := range run.Records(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				last = max(last, rec.Times.End)
				time.Sleep(time.Minute)
			}
			if took := ended.Sub(epoch); took != last || took == 0 {
				t.Errorf("the run took %v, and its last request ended at %v", took, last)
			}
		})
	}
}
