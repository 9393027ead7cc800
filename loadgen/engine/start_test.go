package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestClockStartsAtTheInstantGiven(t *testing.T) {
	for _, row := range []struct {
		name          string
		startAt, want time.Duration // from the beginning, with 3 s to get ready
	}{
		{"in time", time.Hour + 5*time.Nanosecond, time.Hour + 5*time.Nanosecond},
		{"within the last second", 3500 * time.Millisecond, 3500 * time.Millisecond},
		{"late", 2 * time.Second, 3 * time.Second},
		{"past before anything", -time.Minute, 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			r := oneLoad(Load{Source: prompts(3), Schedule: every(time.Second), Target: Target{Send: answer(time.Second, 0, 1)}})
			r.StartAt = begin.Add(row.startAt).UTC()
			r.Ready = func(ctx context.Context, _ []int) error { return Sleep(ctx, time.Now().Add(3*time.Second)) }
			var epoch time.Time
			r.Started = func(at time.Time) {
				if epoch = at; !time.Now().Equal(at) {
					t.Errorf("%s: the clock of %v was started at %v", row.name, at, time.Now())
				}
			}
			for i, rec := range collect(t, r) {
				if want := time.Duration(i) * time.Second; rec.Times.Due != want || rec.Times.Sent != want {
					t.Errorf("%s: request %d was due at %v and sent at %v, want %v", row.name, i, rec.Times.Due, rec.Times.Sent, want)
				}
			}
			if want := begin.Add(row.want); !epoch.Equal(want) {
				t.Errorf("%s: the epoch is %v, want %v", row.name, epoch, want)
			}
		})
	}
}

func TestALateTimerDoesNotMoveTheStart(t *testing.T) {
	for left := 900 * time.Millisecond; left < 3200*time.Millisecond; left += 50 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			r := oneLoad(Load{Source: prompts(1), Target: Target{Send: answer(0, 0, 1)}})
			r.Wait = func(ctx context.Context, until time.Time) error { return Sleep(ctx, until.Add(70*time.Millisecond)) }
			r.StartAt = time.Now().Add(left).UTC()
			r.Started = func(epoch time.Time) {
				if !epoch.Equal(r.StartAt) {
					t.Errorf("%v before the start: the epoch is %v late", left, epoch.Sub(r.StartAt))
				}
			}
			collect(t, r)
		})
	}
}

func TestCancelEndsTheWaitForTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := oneLoad(Load{Source: prompts(3), Target: Target{Send: answer(time.Second, 0, 1)}})
		r.StartAt, r.Drain = begin.Add(time.Hour), time.Minute
		r.Started = func(time.Time) { t.Error("the clock was started") }
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		for rec, err := range r.Records(ctx) {
			t.Errorf("%v, %v", rec, err)
		}
		if took := time.Since(begin); took != 90*time.Second {
			t.Errorf("it ended after %v, want 90 s", took)
		}
	})
}

// The machine's own timers may be late, but not early.
func TestNothingIsSentBeforeTheStart(t *testing.T) {
	r := oneLoad(Load{Source: prompts(1), Target: Target{Send: answer(0, 0, 1)}})
	r.Wait, r.StartAt = nil, time.Now().Add(5*time.Millisecond).UTC().Round(0)
	r.Started = func(epoch time.Time) {
		if now := time.Now(); epoch.Before(r.StartAt) || now.Before(epoch) {
			t.Errorf("the epoch is %v and it is %v, where the start is at %v", epoch, now, r.StartAt)
		}
	}
	if rec := collect(t, r)[0]; rec.Times.Sent < 0 {
		t.Errorf("sent %v before the start", -rec.Times.Sent)
	}
}
