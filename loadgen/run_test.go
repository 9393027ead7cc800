package loadgen

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics"
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

func encodeID(c *dataset.Conversation, turn int) (*Request, error) {
	return &Request{ID: c.ID, Body: []byte(c.ID)}, nil
}

// answer is a Sender that takes ttft to the first of n chunks and itl between
// chunks.
func answer(ttft, itl time.Duration, n int) Sender {
	return func(ctx context.Context, epoch time.Time, req *Request, rec *metrics.Record) iter.Seq2[Chunk, error] {
		return func(yield func(Chunk, error) bool) {
			pause := ttft
			for range n {
				if err := Sleep(ctx, time.Now().Add(pause)); err != nil {
					yield(Chunk{}, &Failure{metrics.Cancelled, err})
					return
				}
				now := time.Now()
				rec.Last = now.Sub(epoch)
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
	return &Run{Header: &metrics.Header{Run: "r"}, Loads: []Load{load}, Wait: Sleep}
}

func collect(t *testing.T, r *Run) []*metrics.Record {
	t.Helper()
	var all []*metrics.Record
	for rec, err := range r.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	slices.SortFunc(all, func(a, b *metrics.Record) int { return a.Index - b.Index })
	return all
}

func TestScheduleIgnoresSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(50), Schedule: every(10 * time.Millisecond), Target: Target{Send: answer(time.Hour, 0, 1)}})
		for i, rec := range collect(t, r) {
			due := time.Duration(i) * 10 * time.Millisecond
			if rec.Due != due || rec.Sent != due || rec.TTFT() != time.Hour || rec.Queue() != 0 || rec.Lag() != 0 {
				t.Errorf("request %d: due %v, sent %v, TTFT %v, queue %v, lag %v; want %v, the same, 1h, 0, 0",
					i, rec.Due, rec.Sent, rec.TTFT(), rec.Queue(), rec.Lag(), due)
			}
		}
	})
}

func TestQueueIsTheWaitForASlotInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(9), Schedule: every(0), Concurrency: 3, Target: Target{Send: answer(time.Second, 0, 1)}})
		for i, rec := range collect(t, r) {
			if want := time.Duration(i/3) * time.Second; rec.Queue() != want || rec.Slot != want || rec.Sent != want {
				t.Errorf("request %d: queue %v, slot %v, sent %v; want %v each", i, rec.Queue(), rec.Slot, rec.Sent, want)
			}
		}
	})
}

func TestWithoutScheduleARequestIsDueWhenASlotIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(6), Concurrency: 2, Delay: time.Second, Target: Target{Send: answer(time.Second, 0, 1)}})
		for i, rec := range collect(t, r) {
			if want := time.Duration(1+i/2) * time.Second; rec.Due != want || rec.Queue() != 0 {
				t.Errorf("request %d: due %v, queue %v; want %v, 0", i, rec.Due, rec.Queue(), want)
			}
		}
	})
}

func TestRecordHoldsWhatTheSenderYielded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(1), Target: Target{Name: "a", Send: answer(50*time.Millisecond, 7*time.Millisecond, 4)}})
		r.Loads[0].Target.Count = func(string) int { return 4 }
		rec := collect(t, r)[0]
		if rec.Run != "r" || rec.Target != "a" || rec.ID != "0" || rec.In != 3 || rec.OutAsked != 2 || rec.Out != 4 {
			t.Errorf("got %+v", rec)
		}
		if rec.TTFT() != 50*time.Millisecond || rec.E2EL() != 71*time.Millisecond || rec.TPOT() != 7*time.Millisecond || rec.FirstContent != rec.TTFT() {
			t.Errorf("TTFT %v, E2EL %v, TPOT %v", rec.TTFT(), rec.E2EL(), rec.TPOT())
		}
		if gaps := slices.Collect(rec.Chunks.Gaps()); !slices.Equal(gaps, []time.Duration{7e6, 7e6, 7e6}) {
			t.Errorf("gaps %v", gaps)
		}
	})
}

func TestCancelDrainsThenCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		send := func(ctx context.Context, epoch time.Time, req *Request, rec *metrics.Record) iter.Seq2[Chunk, error] {
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
			got[fmt.Sprint(rec.Index, rec.Class)]++
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
		{"found under way, requests in flight are let finish", 9000, 10},
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
			// The queue holds 8192, so the error is met as the last 808 are pulled.
			r := oneLoad(Load{Source: source, Schedule: every(time.Second), Target: Target{Send: answer(10*time.Second, 0, 1)}})
			r.Drain = time.Minute
			started, ok := false, 0
			r.Started = func(time.Time) { started = true }
			var last error
			for rec, err := range r.Records(t.Context()) {
				if last = err; err == nil && rec.Class == metrics.OK {
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

func TestLaterTurnsWaitForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{ID: "c", Turns: make([]dataset.Turn, 3)}, nil)
		}
		r := oneLoad(Load{Source: source, Target: Target{Send: answer(time.Second, 0, 1)}})
		var all []*metrics.Record
		for rec := range r.Records(t.Context()) {
			all = append(all, rec)
		}
		for i, rec := range all {
			if want := time.Duration(i) * time.Second; rec.Turn != i || rec.Sent != want || rec.Lag() != 0 {
				t.Errorf("turn %d sent at %v, want %v", rec.Turn, rec.Sent, want)
			}
		}
		if len(all) != 3 {
			t.Errorf("%d turns, want 3", len(all))
		}
	})
}

func TestContinuousUsageGivesTokensPerChunk(t *testing.T) {
	for _, test := range []struct {
		totals, want []int
	}{
		{[]int{1, 2, 3}, nil},
		{[]int{1, 2, 5, 6}, []int{1, 1, 3, 1}},
		{[]int{4, 5}, []int{4, 1}},
		{[]int{0, 0}, nil},
		{[]int{0, 1, 2}, []int{0, 1, 1}},
		{[]int{1, 2, 0, 4}, []int{1, 1, 0, 2}},
	} {
		var c tokenCount
		for _, n := range test.totals {
			c.add(n)
		}
		if !slices.Equal(c.perChunk, test.want) {
			t.Errorf("totals %v: %v per chunk, want %v", test.totals, c.perChunk, test.want)
		}
	}
}

// A million prompts at once hold as many goroutines as there are slots, and no
// more memory than the queue's bound.
func TestMillionPromptsHoldGoroutinesAndMemoryFlat(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
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

func TestPacerWaitsUntilDue(t *testing.T) {
	p, err := newPacer()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	due := time.Now().Add(3 * time.Millisecond)
	if err := p.Wait(t.Context(), due); err != nil || time.Now().Before(due) {
		t.Errorf("returned %v, %v before due", err, time.Until(due))
	}
	if err := p.Wait(t.Context(), due); err != nil {
		t.Errorf("a past due time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := p.Wait(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled wait returned %v", err)
	}
}

func BenchmarkDispatch(b *testing.B) {
	r := oneLoad(Load{Source: prompts(b.N), Schedule: every(0), Concurrency: 64, Target: Target{Send: answer(0, 0, 1)}})
	for _, err := range r.Records(b.Context()) {
		if err != nil {
			b.Fatal(err)
		}
	}
}

func TestLongBodiesInFlightLeaveRoomToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := make([]byte, 1<<20)
		target := Target{Send: answer(time.Second, 0, 1), Encode: func(c *dataset.Conversation, _ int) (*Request, error) {
			return &Request{ID: c.ID, Body: body}, nil
		}}
		r := oneLoad(Load{Source: prompts(200), Schedule: every(0), Target: target})
		for _, rec := range collect(t, r) {
			if rec.Sent != 0 {
				t.Fatalf("request %d sent at %v, want 0", rec.Index, rec.Sent)
			}
		}
	})
}

func TestOurLatenessIsLagAndNotQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(ctx context.Context, until time.Time) error { return Sleep(ctx, until.Add(300*time.Millisecond)) }
		for _, limit := range []int{0, 8} {
			r := oneLoad(Load{Source: prompts(5), Schedule: every(time.Second), Concurrency: limit, Target: Target{Send: answer(time.Second, 0, 1)}})
			r.Wait = late
			for _, rec := range collect(t, r)[1:] {
				if rec.Lag() != 300*time.Millisecond || rec.Queue() != 0 {
					t.Errorf("limit %d, request %d: lag %v, queue %v; want 300ms, 0", limit, rec.Index, rec.Lag(), rec.Queue())
				}
			}
		}
	})
}

func TestAWaitThatFailsEndsTheRun(t *testing.T) {
	broken := errors.New("no timer")
	for _, n := range []int{3, 9000} {
		synctest.Test(t, func(t *testing.T) {
			r := oneLoad(Load{Source: prompts(n), Schedule: every(time.Second), Target: Target{Send: answer(0, 0, 1)}})
			r.Wait = func(context.Context, time.Time) error { return broken }
			var last error
			for _, last = range r.Records(t.Context()) {
			}
			if !errors.Is(last, broken) {
				t.Errorf("%d prompts: ended with %v", n, last)
			}
		})
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

func TestCancelStopsLaterTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{Turns: make([]dataset.Turn, 10)}, nil)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		r := oneLoad(Load{Source: source, Target: Target{Send: answer(time.Second, 0, 1)}})
		r.Drain = time.Hour
		var phases []metrics.Phase
		for rec := range r.Records(ctx) {
			phases = append(phases, rec.Phase)
		}
		if !slices.Equal(phases, []metrics.Phase{metrics.Main, metrics.Drain}) {
			t.Errorf("turns sent, by phase: %q", phases)
		}
	})
}

func TestConversationsBringTheirOwnTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := func(yield func(*dataset.Conversation, error) bool) {
			for _, due := range []float64{0.5, 0.5, 2.25} {
				if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, 1), Due: &due}, nil) {
					return
				}
			}
		}
		r := oneLoad(Load{Source: source, Target: Target{Send: answer(time.Hour, 0, 1)}})
		for i, rec := range collect(t, r) {
			if want := []time.Duration{5e8, 5e8, 225e7}[i]; rec.Due != want || rec.Sent != want {
				t.Errorf("request %d: due %v, sent %v, want %v", i, rec.Due, rec.Sent, want)
			}
		}
	})
}

func TestReadyComesBetweenTheFirstBodyAndTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		encoded, began := false, time.Now()
		r := oneLoad(Load{Source: prompts(3), Target: Target{
			Send: answer(time.Second, 0, 1),
			Encode: func(c *dataset.Conversation, turn int) (*Request, error) {
				encoded = true
				return encodeID(c, turn)
			},
		}})
		r.Ready = func(context.Context) error {
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
			if rec.Sent != 0 || rec.TTFT() != time.Second {
				t.Errorf("sent at %v, TTFT %v", rec.Sent, rec.TTFT())
			}
		}
	})
}

func TestARunThatIsNotReadyDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wanted := errors.New("not ready")
		r := oneLoad(Load{Source: prompts(1000), Target: Target{Send: answer(0, 0, 1)}})
		r.Ready = func(context.Context) error { return wanted }
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
