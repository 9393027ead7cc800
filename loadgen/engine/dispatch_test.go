package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

func TestScheduleIgnoresSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(50), Schedule: every(10 * time.Millisecond), Target: Target{Send: answer(time.Hour, 0, 1)}})
		for i, rec := range collect(t, r) {
			due := time.Duration(i) * 10 * time.Millisecond
			if rec.Times.Due != due || rec.Times.Sent != due || rec.TTFT() != time.Hour || rec.Queue() != 0 || rec.Lag() != 0 {
				t.Errorf("request %d: due %v, sent %v, TTFT %v, queue %v, lag %v; want %v, the same, 1h, 0, 0",
					i, rec.Times.Due, rec.Times.Sent, rec.TTFT(), rec.Queue(), rec.Lag(), due)
			}
		}
	})
}

func TestQueueIsTheWaitForASlotInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(9), Schedule: every(0), Concurrency: 3, Target: Target{Send: answer(time.Second, 0, 1)}})
		for i, rec := range collect(t, r) {
			if want := time.Duration(i/3) * time.Second; rec.Queue() != want || rec.Times.Slot != want || rec.Times.Sent != want {
				t.Errorf("request %d: queue %v, slot %v, sent %v; want %v each", i, rec.Queue(), rec.Times.Slot, rec.Times.Sent, want)
			}
		}
	})
}

func TestWithoutScheduleARequestIsDueWhenASlotIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(6), Concurrency: 2, Delay: time.Second, Target: Target{Send: answer(time.Second, 0, 1)}})
		for i, rec := range collect(t, r) {
			if want := time.Duration(1+i/2) * time.Second; rec.Times.Due != want || rec.Queue() != 0 {
				t.Errorf("request %d: due %v, queue %v; want %v, 0", i, rec.Times.Due, rec.Queue(), want)
			}
		}
	})
}

func TestRecordHoldsWhatTheSenderYielded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{Source: prompts(1), Target: Target{Name: "a", Send: answer(50*time.Millisecond, 7*time.Millisecond, 4)}})
		r.Loads[0].Target.Count = func(string) int { return 4 }
		rec := collect(t, r)[0]
		if rec.Run != "r" || rec.Target != "a" || rec.ID != "0" || rec.Tokens.In != 3 || rec.Tokens.OutAsked != 2 || rec.Tokens.Out != 4 || !rec.Tokens.Uncounted {
			t.Errorf("got %+v", rec)
		}
		if rec.TTFT() != 50*time.Millisecond || rec.E2EL() != 71*time.Millisecond || rec.TPOT() != 7*time.Millisecond || rec.Times.FirstContent != rec.TTFT() {
			t.Errorf("TTFT %v, E2EL %v, TPOT %v", rec.TTFT(), rec.E2EL(), rec.TPOT())
		}
		if gaps := slices.Collect(rec.Answer.Chunks.Gaps()); !slices.Equal(gaps, []time.Duration{7e6, 7e6, 7e6}) {
			t.Errorf("gaps %v", gaps)
		}
	})
}

func TestLaterTurnsWaitForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{ID: "c", Turns: make([]dataset.Turn, 3)}, nil)
		}
		r := oneLoad(Load{Source: source, Target: Target{Send: answer(time.Second, 0, 1)}})
		var all []*record.Record
		for rec := range r.Records(t.Context()) {
			all = append(all, rec)
		}
		for i, rec := range all {
			if want := time.Duration(i) * time.Second; rec.Turn != i || rec.Times.Sent != want || rec.Lag() != 0 {
				t.Errorf("turn %d sent at %v, want %v", rec.Turn, rec.Times.Sent, want)
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
			c.add(n, true)
		}
		if !slices.Equal(c.perChunk, test.want) {
			t.Errorf("totals %v: %v per chunk, want %v", test.totals, c.perChunk, test.want)
		}
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
		target := Target{Send: answer(time.Second, 0, 1), Encode: func(c *dataset.Conversation, _ int, _ []json.RawMessage) (*Request, error) {
			return &Request{ID: c.ID, Body: body}, nil
		}}
		r := oneLoad(Load{Source: prompts(200), Schedule: every(0), Target: target})
		for _, rec := range collect(t, r) {
			if rec.Times.Sent != 0 {
				t.Fatalf("request %d sent at %v, want 0", rec.Index, rec.Times.Sent)
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
	for _, n := range []int{3, maxReady + 808} {
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

func TestCancelStopsLaterTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{Turns: make([]dataset.Turn, 10)}, nil)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		r := oneLoad(Load{Source: source, Target: Target{Send: answer(time.Second, 0, 1)}})
		r.Drain = time.Hour
		var phases []record.Phase
		for rec := range r.Records(ctx) {
			phases = append(phases, rec.Phase)
		}
		if !slices.Equal(phases, []record.Phase{record.Main, record.Drain}) {
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
			if want := []time.Duration{5e8, 5e8, 225e7}[i]; rec.Times.Due != want || rec.Times.Sent != want {
				t.Errorf("request %d: due %v, sent %v, want %v", i, rec.Times.Due, rec.Times.Sent, want)
			}
		}
	})
}

func TestAnAnswerThatBeganIsNotAskedForAgain(t *testing.T) {
	rec := &record.Record{Result: record.Result{Class: record.Empty}}
	if !mayPass(rec) {
		t.Error("an empty answer is not sent again")
	}
	if rec.Answer.Blank.Append(time.Second); mayPass(rec) {
		t.Error("an answer of a role alone is sent again")
	}
}

// A Sender may drop the body of a request only if nothing sends it again.
func TestARequestThatMayBeRetriedKeepsItsBody(t *testing.T) {
	for _, times := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			target := Target{Retry: Retry{Times: times}}
			target.Send = func(_ context.Context, _ time.Time, req *Request, _ *record.Record) iter.Seq2[Chunk, error] {
				if req.Once != (times == 0) {
					t.Errorf("%d retries: it is sent once: %t", times, req.Once)
				}
				return func(yield func(Chunk, error) bool) { yield(Chunk{}, record.Failf(record.Refused, "no")) }
			}
			if rec := collect(t, oneLoad(Load{Source: prompts(1), Target: target}))[0]; rec.Result.Class != record.Refused {
				t.Errorf("%+v", rec)
			}
		})
	}
}
