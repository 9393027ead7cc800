package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/sessions"
)

// sessionsOf are the figures of the sessions of a load.
func sessionsOf(t *testing.T, load Load) *sessions.Sessions {
	t.Helper()
	load.Target.Encode = encodeTurn
	c := aspect.Collector(&metrics.Header{})
	for _, rec := range collect(t, oneLoad(load)) {
		c.Add(rec)
	}
	return sessions.Of(c.Summary(20))
}

// The parts of a job are what the dispatcher did: it waited for a session slot, a slot, a gap, a server.
func TestJobsAreMadeOfWhatTheDispatcherDid(t *testing.T) {
	second := Target{Send: answer(time.Second, 0, 1)}
	at := func(s float64) *float64 { return &s }
	for _, row := range []struct {
		name string
		load Load
		want sessions.JobParts
		jobs float64 // seconds, mean
	}{
		// b is due at once, has its session slot after 7 s and ends after 14 s.
		{"session slots", Load{Source: these(chain(2, 5), chain(2, 5)), Sessions: 1, Schedule: every(0), Target: second},
			sessions.JobParts{Think: 10 * time.Second, SessionSlots: 7 * time.Second, Prefill: 4 * time.Second}, 10.5},
		// b waits for a second, for its first turn.
		{"slots", Load{Source: these(chain(2, 5), chain(2, 5)), Concurrency: 1, Schedule: every(0), Target: second},
			sessions.JobParts{Think: 10 * time.Second, Slots: time.Second, Prefill: 4 * time.Second}, 7.5},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := sessionsOf(t, row.load)
				if s.Parts != row.want || s.JobTime.Mean() != row.jobs*1000 || s.Completed != 2 || s.Later.Disordered != 0 {
					t.Errorf("%+v of %v ms", s.Parts, s.JobTime.Mean())
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		turns := chain(3, 2)
		turns[0].At, turns[1].At, turns[2].At = at(0), at(3), at(30)
		s := sessionsOf(t, Load{Source: these(turns), Absolute: true, Target: Target{Send: answer(4*time.Second, 0, 1)}})
		// Turn 1 is due at 4 s and not at 3 s, without its gap; turn 2 is due in time.
		if s.Later.Gaps != 2 || s.Later.Vanished != 1 || s.Later.Drift.Percentile(100) != 1000 || s.Later.Drift.Percentile(0) != 0 {
			t.Errorf("%d gaps, %d vanished, drift up to %v ms", s.Later.Gaps, s.Later.Vanished, s.Later.Drift.Percentile(100))
		}
	})
}
