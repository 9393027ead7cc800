package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// sent are the instants at which a run sent something, with how often, in two
// phases.
func sent(t *testing.T, r *Run) (warm, main []string) {
	t.Helper()
	at := map[record.Phase]map[time.Duration]int{record.WarmUp: {}, record.Main: {}}
	for _, rec := range collect(t, r) {
		at[rec.Phase][rec.Times.Sent]++
	}
	list := func(phase record.Phase) (list []string) {
		var times []time.Duration
		for sent := range at[phase] {
			times = append(times, sent)
		}
		slices.Sort(times)
		for _, sent := range times {
			list = append(list, fmt.Sprintf("%v×%d", sent, at[phase][sent]))
		}
		return list
	}
	return list(record.WarmUp), list(record.Main)
}

// endless is a source of more prompts than any queue holds.
var endless = prompts(math.MaxInt)

func TestNothingIsSentFromTheStopOn(t *testing.T) {
	for _, row := range []struct {
		name string
		load Load
		want string
	}{
		{"due after it", Load{Schedule: every(time.Second), Stop: 2500 * time.Millisecond}, "[0s×1 1s×1 2s×1]"},
		{"due at it, lasting longer", Load{Schedule: every(time.Second), Lasts: time.Hour, Stop: 3 * time.Second}, "[0s×1 1s×1 2s×1]"},
		{"waiting for a slot", Load{Schedule: every(0), Concurrency: 2, Stop: 2500 * time.Millisecond}, "[0s×2 1s×2 2s×2]"},
		{"with a slot free at it", Load{Schedule: every(0), Concurrency: 2, Stop: 2 * time.Second}, "[0s×2 1s×2]"},
		{"in a closed loop", Load{Concurrency: 2, Stop: 2 * time.Second}, "[0s×2 1s×2]"},
		{"counted from the delay", Load{Schedule: every(time.Second), Delay: time.Second, Stop: 2 * time.Second}, "[1s×1 2s×1]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				row.load.Source, row.load.Target.Send = endless, answer(time.Second, 0, 1)
				_, main := sent(t, oneLoad(row.load))
				if fmt.Sprint(main) != row.want {
					t.Errorf("sent %v, want %s", main, row.want)
				}
				if took := time.Since(start); took > 4*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// The timer that ends a part may be late, and a slot free before it fires.
func TestSlotIsLeftToThePartThatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{slots: newSlots(1, false), rank: firstTurn, epoch: time.Now()}
		of := &stage{stop: 2 * time.Second}
		take := func() bool { return g.take(t.Context(), of, nil) }
		if !take() {
			t.Error("no slot before the stop")
		}
		go func() {
			time.Sleep(2 * time.Second)
			g.slots.release(time.Since(g.epoch))
		}()
		if take() || g.slots.free != 1 {
			t.Error("a slot that was freed at the stop was taken")
		}
		if take() || g.slots.free != 1 {
			t.Error("a slot that was free after the stop was taken")
		}
	})
}

func TestNoTurnIsSentFromTheStopOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{ID: "c", Turns: make([]dataset.Turn, 5)}, nil)
		}
		r := oneLoad(Load{Source: source, Stop: 3 * time.Second, Target: Target{Send: answer(time.Second, 0, 1)}})
		if _, main := sent(t, r); fmt.Sprint(main) != "[0s×1 1s×1 2s×1]" {
			t.Errorf("sent %v", main)
		}
	})
}

func TestSlowSourceDoesNotHoldUpTheHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(yield func(*dataset.Conversation, error) bool) {
			for i := range 100_000 {
				if i > maxReady { // what the queue holds is there before the start
					time.Sleep(time.Hour)
				}
				if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, 1)}, nil) {
					return
				}
			}
		}
		var ended time.Duration
		r := oneLoad(Load{
			Source: prompts(1), Schedule: every(0), Target: Target{Send: answer(0, 0, 1)},
			WarmUp: WarmUp{Lasts: 20 * time.Second, Source: slow, Schedule: every(100 * time.Microsecond)},
		})
		for rec := range r.Records(t.Context()) {
			if rec.Phase == record.Main {
				ended = rec.Times.Sent
			}
		}
		if ended != 20*time.Second {
			t.Errorf("the measured request was sent at %v, want 20s", ended)
		}
	})
}

func TestWarmUpHandsOverWithoutDraining(t *testing.T) {
	for _, row := range []struct {
		name       string
		load       Load
		warmUp     time.Duration
		warm, main string
	}{
		{"closed loop, slots taken", Load{Schedule: every(0), Concurrency: 3, Source: prompts(6)}, 2500 * time.Millisecond,
			"[0s×3 1s×3 2s×3]", "[3s×3 4s×3]"},
		{"closed loop, slots free as it ends", Load{Schedule: every(0), Concurrency: 3, Source: prompts(6)}, 2 * time.Second,
			"[0s×3 1s×3]", "[2s×3 3s×3]"},
		{"closed loop without a schedule", Load{Concurrency: 1, Source: prompts(2)}, 1500 * time.Millisecond, "[0s×1 1s×1]", "[2s×1 3s×1]"},
		{"by rate", Load{Schedule: every(400 * time.Millisecond), Source: prompts(3)}, time.Second,
			"[0s×1 400ms×1 800ms×1]", "[1s×1 1.4s×1 1.8s×1]"},
		{"by rate, stopped and delayed", Load{Schedule: every(400 * time.Millisecond), Source: endless, Stop: time.Second, Delay: time.Second}, time.Second,
			"[1s×1 1.4s×1 1.8s×1]", "[2s×1 2.4s×1 2.8s×1]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row.load.WarmUp = WarmUp{Lasts: row.warmUp, Source: endless, Schedule: row.load.Schedule}
				row.load.Target.Send = answer(time.Second, 0, 1)
				warm, main := sent(t, oneLoad(row.load))
				if fmt.Sprint(warm) != row.warm || fmt.Sprint(main) != row.main {
					t.Errorf("warm-up %v, want %s; then %v, want %s", warm, row.warm, main, row.main)
				}
			})
		})
	}
}

func TestMeasuredRequestsAreDueFromTheHandoverOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := new(Live)
		r := oneLoad(Load{
			Source: prompts(4), Schedule: every(0), Concurrency: 2, Target: Target{Send: answer(time.Second, 0, 1)},
			WarmUp: WarmUp{Lasts: 2500 * time.Millisecond, Source: endless, Schedule: every(0)},
		})
		r.Loads[0].Live = live
		for _, rec := range collect(t, r) {
			if rec.Phase != record.Main {
				continue
			}
			if want := 500*time.Millisecond + time.Duration(rec.Index/2)*time.Second; rec.Times.Due != 2500*time.Millisecond || rec.Queue() != want || rec.Lag() != 0 {
				t.Errorf("request %d: due %v, queue %v, lag %v; want 2.5s, %v, 0", rec.Index, rec.Times.Due, rec.Queue(), rec.Lag(), want)
			}
		}
		if live.Sent.Load() != 10 || live.Ended.Load() != 10 || live.Warmed.Load() != 6 {
			t.Errorf("%d sent, %d ended, %d of the warm-up", live.Sent.Load(), live.Ended.Load(), live.Warmed.Load())
		}
	})
}

func TestScheduleIgnoresSlowServerBehindAWarmUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{
			Source: endless, Schedule: every(10 * time.Millisecond), Stop: 500 * time.Millisecond, Target: Target{Send: answer(time.Hour, 0, 1)},
			WarmUp: WarmUp{Lasts: time.Second, Source: endless, Schedule: every(100 * time.Millisecond)},
		})
		n := 0
		for _, rec := range collect(t, r) {
			if rec.Phase == record.WarmUp {
				continue
			}
			n++
			if due := time.Second + time.Duration(rec.Index)*10*time.Millisecond; rec.Times.Due != due || rec.Times.Sent != due {
				t.Errorf("request %d: due %v, sent %v; want %v", rec.Index, rec.Times.Due, rec.Times.Sent, due)
			}
		}
		if n != 50 {
			t.Errorf("%d requests, want 50", n)
		}
	})
}

func TestInterruptedWarmUpIsStillNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{
			Source: endless, Schedule: every(time.Second), Target: Target{Send: answer(10*time.Second, 0, 1)},
			WarmUp: WarmUp{Lasts: time.Minute, Source: endless, Schedule: every(time.Second)},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		n := 0
		for rec, err := range r.Records(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; rec.Phase != record.WarmUp {
				t.Errorf("a request of the warm-up is of phase %q", rec.Phase)
			}
		}
		if n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	})
}
