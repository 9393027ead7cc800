package trust

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

// talks gives a run 100 sessions of two turns that there is nothing to say against.
func talks(s *metrics.Summary) *sessions.Sessions {
	sessions.Give(s, &sessions.Sessions{
		Begun: 100, Completed: 100, Sent: 200, JobTime: alike(1000, 100), Rows: []sessions.TurnRow{{Sent: 100, Completed: 100}, {Sent: 100, Completed: 100}},
		Parts: sessions.JobParts{Think: 50 * time.Second, Prefill: 10 * time.Second, Decode: 40 * time.Second},
		Later: sessions.LaterTurns{Turns: 100, Lag: alike(0.1, 100), Gaps: 100},
	})
	return sessions.Of(s)
}

// inFirst has the server find that many of the 10,000 prompt tokens of the first turns in its prefix
// cache, of which earlier prompts had 1000.
func inFirst(s *metrics.Summary, found float64) {
	use := sessions.CacheUse{Planned: 10_000, Reusable: 1000, Told: sessions.CacheTokens{Prompt: 10_000, Cached: int(found), Reused: int(found), Reusable: 1000}}
	of := talks(s)
	of.Rows[0].Cache, of.Cache = use, use
}

var sessionFaults = []fault{
	{"order", 0, 1, func(s *metrics.Summary, v float64) { talks(s).Later.Disordered = int(v) }, "1 turn sent before an answer that it waits for had ended"},
	{"later turns", 10, 11, func(s *metrics.Summary, v float64) { talks(s).Later.Late = int(v) }, "11.0 % of later turns were sent more than 1 ms late, p99 0.10 ms (limit 10.0 %)"},
	{"later turns", 2, 3, func(s *metrics.Summary, v float64) { // a few turns
		talks(s).Later = sessions.LaterTurns{Turns: 10, Late: int(v), Lag: alike(0.1, 10)}
	}, "30.0 % of later turns"},
	{"later turns", 4.99, 5.01, func(s *metrics.Summary, v float64) { talks(s).Later.Lag = alike(v, 100) }, "more than 1 ms late, p99 5.01 ms (limit 5.00 ms)"},
	{"later turns", 4.99, 5.01, func(s *metrics.Summary, v float64) {
		s.TTFT = alike(20, 200)
		talks(s).Later.Lag = alike(v, 100)
	}, "p99 5.01 ms (limit 5.00 ms)"},
	{"later turns", 9.99, 10.01, func(s *metrics.Summary, v float64) {
		s.TTFT = alike(100, 200)
		talks(s).Later.Lag = alike(v, 100)
	}, "p99 10.0 ms (limit 10.0 ms)"},
	{"broken sessions", 10, 11, func(s *metrics.Summary, v float64) { // cut sessions might have broken
		of := talks(s)
		of.Begun, of.Completed, of.Cut, of.Broken = 1100, 1000-int(v), 100, map[record.Class]int{record.Reset: int(v) - 1, record.Stall: 1}
	}, "11 of 1000 sessions broke, as a turn failed: job times leave these out (limit 1.00 %)"},
	{"cut sessions", 10, 11, func(s *metrics.Summary, v float64) {
		of := talks(s)
		of.Completed, of.Cut = 100-int(v), int(v)
	}, "11 of 100 sessions were cut: job times favor short sessions (limit 10.0 %)"},
	{"context overflow", 2, 3, func(s *metrics.Summary, v float64) {
		s.Failed, failures.Of(s).Classes = int(v), map[record.Class]*failures.Failing{record.Overflow: {Requests: int(v)}}
	}, "3 of 203 requests did not fit into the model's context (limit 1.00 %)"},
	{"gaps", 5, 6, func(s *metrics.Summary, v float64) { talks(s).Later.Vanished = int(v) },
		"6 of 100 gaps vanished: the answers took so long that the next turns were due at once (limit 5.00 %)"},
	{"history", 9.99, 10.01, func(s *metrics.Summary, v float64) {
		of := talks(s)
		of.Later.InDrift, of.Later.OutDrift = alike(v, 90), alike(3, 100)
		for range 10 {
			of.Later.InDrift.Add(0.05)
		}
	}, "prompts of later turns are 10.0 % longer or shorter than planned in the median, p95 50.0 %; answers 3.00 %, p95 3.00 % (limit 10.0 %)"},
	{"history", 24.9, 25.1, func(s *metrics.Summary, v float64) { // a template adds up to 88 tokens to 352
		of := talks(s)
		s.Header.Config.Traits.Templated, of.Rows[1].Prompt = true, 44_000
		of.Later.InDrift = alike(v, 100)
	}, "25.1 % longer or shorter than planned in the median, p95 25.1 % (limit 25.0 %)"},
	{"prefix cache", 1600, 1601, inFirst, "the server had 6.01 % of the first turns' prompt tokens in its prefix cache though no earlier prompt of the run has them (limit 6.00 %)"},
	{"prefix cache", 7400, 7401, func(s *metrics.Summary, v float64) { // the beginning of a template
		inFirst(s, v)
		s.Header.Config.Traits.Templated = true
	}, "(limit 64.0 %)"},
	{"prefix cache", 7400, 7401, func(s *metrics.Summary, v float64) {
		inFirst(s, v)
		s.Header.Config.Traits.Templated = true
	}, "(limit 64.0 %)"},
	{"rate", 95.1, 94.9, func(s *metrics.Summary, v float64) {
		talks(s).Parts.SessionSlots = time.Second
		pace.Of(s).Sent, pace.Of(s).Queue = time.Duration(float64(pace.Of(s).Due)/v*100), time.Hour
	}, "sessions/s scheduled: --max-sessions held sessions back, for 18000 ms on average"},
	{"rate", 95.1, 94.9, func(s *metrics.Summary, v float64) {
		talks(s).Parts.Slots = time.Second
		pace.Of(s).Sent, pace.Of(s).Queue = time.Duration(float64(pace.Of(s).Due)/v*100), time.Hour
	}, "sessions/s scheduled: --max-concurrency held requests back"},
}

func TestSessionsThatAreFineAreValid(t *testing.T) {
	s := clean()
	talks(s)
	if Judge(s); s.Trust.Verdict != verdict.Valid || len(s.Trust.Notes) != 0 {
		t.Errorf("%s for %q, notes %q", s.Trust.Verdict, failing(s), s.Trust.Notes)
	}
	if !slices.ContainsFunc(s.Trust.Checks, func(c verdict.Check) bool { return c.Name == "later turns" && c.OK }) {
		t.Errorf("checks %+v", s.Trust.Checks)
	}
}

// A chat template begins all chats alike, so only more than it adds is worth a warning.
func TestTemplateInTheCacheIsNoWarning(t *testing.T) {
	for hits, want := range map[int]int{6400: 0, 6401: 1} {
		s := clean()
		inFirst(s, 1000)
		sessions.Of(s).Rows[0].Cache = sessions.CacheUse{Planned: 200_000, Told: sessions.CacheTokens{Prompt: 200_000, Cached: hits, Reused: hits}}
		s.Header.Config.Traits.Templated = true
		if Judge(s); len(s.Trust.Warnings) != want {
			t.Errorf("%d tokens: warnings %q, want %d", hits, s.Trust.Warnings, want)
		}
	}
}

func TestNotesOnSessionsAccuseNobody(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(of *sessions.Sessions)
		says string
	}{
		"a broken session": {func(of *sessions.Sessions) {
			of.Broken = map[record.Class]int{record.Reset: 1}
		}, "1 of 101 sessions broke"},
		"a cut session":             {func(of *sessions.Sessions) { of.Cut = 1 }, "1 of 100 sessions were cut"},
		"a vanished gap":            {func(of *sessions.Sessions) { of.Later.Vanished = 1 }, "1 of 100 gaps vanished"},
		"sessions from the warm-up": {func(of *sessions.Sessions) { of.Earlier = 2 }, "2 sessions began before the measured part: their turns count, their job times do not"},
		"places": {func(of *sessions.Sessions) { of.Parts.SessionSlots = 25 * time.Second },
			"sessions waited for a session slot of --max-sessions, 250 ms on average (20.0 % of the job time): a slow server delays their arrival, so read latencies from when turns were due"},
		"little reuse": {func(of *sessions.Sessions) {
			of.Cache = sessions.CacheUse{Planned: 100, Reusable: 80, Told: sessions.CacheTokens{Prompt: 100, Cached: 39, Reused: 39, Reusable: 80}}
		}, "the server had 39.0 % of the prompt tokens in its prefix cache, 48.8 % of what it could reuse: the cache is too small for the sessions in progress, or a router sends their turns to different servers"},
	} {
		s := clean()
		c.set(talks(s))
		Judge(s)
		if s.Trust.Verdict != verdict.Valid || len(s.Trust.Notes) != 1 || !strings.Contains(s.Trust.Notes[0], c.says) {
			t.Errorf("%s: %s for %q, notes %q", name, s.Trust.Verdict, failing(s), s.Trust.Notes)
		}
	}
	s := clean()
	talks(s).Cache = sessions.CacheUse{Planned: 100, Reusable: 80, Told: sessions.CacheTokens{Prompt: 100, Cached: 40, Reused: 40, Reusable: 80}}
	if Judge(s); len(s.Trust.Notes) != 0 {
		t.Errorf("a half of what can be reused is noted: %q", s.Trust.Notes)
	}
	talks(s).Parts.SessionSlots = 1010 * time.Millisecond // of 101 s
	if Judge(s); len(s.Trust.Notes) != 0 {
		t.Errorf("a hundredth of the job time is noted: %q", s.Trust.Notes)
	}
	sessions.Of(s).Parts.SessionSlots += 10 * time.Millisecond
	if Judge(s); len(s.Trust.Notes) != 1 {
		t.Errorf("notes %q", s.Trust.Notes)
	}
}

// What sessions find of their own is as it should be. What first turns find that no earlier prompt
// has was there before the run, whatever else is found.
func TestOnlyPromptsFromBeforeTheRunAreBlamed(t *testing.T) {
	own := sessions.CacheUse{Planned: 50_000, Reusable: 40_000, Told: sessions.CacheTokens{Prompt: 50_000, Cached: 40_000, Reused: 40_000, Reusable: 40_000}}
	s := clean()
	inFirst(s, 1000)
	sessions.Of(s).Rows[1].Cache, sessions.Of(s).Cache = own, own
	s.Totals.Input, metrics.View[counts.Counts](s).Cached = 60_000, 41_000
	if Judge(s); s.Trust.Verdict != verdict.Valid || len(s.Trust.Warnings) != 0 {
		t.Errorf("%s for %q, %q", s.Trust.Verdict, failing(s), s.Trust.Warnings)
	}
	inFirst(s, 1101) // 1.01 %
	if Judge(s); s.Trust.Verdict != verdict.Valid || len(s.Trust.Warnings) != 1 || !strings.Contains(s.Trust.Warnings[0], "though no earlier prompt of the run has them: a rehearsal's request") {
		t.Errorf("%s for %q, %q", s.Trust.Verdict, failing(s), s.Trust.Warnings)
	}
	// Without a count of what prompts share, sessions are excused.
	s = clean()
	talks(s).Rows[0].Cache.Told = sessions.CacheTokens{Prompt: 10_000, Cached: 9000}
	s.Totals.Input, metrics.View[counts.Counts](s).Cached, s.Truth.LaterTurns = 60_000, 41_000, true
	Judge(s)
	if s.Trust.Verdict != verdict.Valid || slices.ContainsFunc(s.Trust.Checks, func(c verdict.Check) bool { return c.Name == "prefix cache" }) {
		t.Errorf("%s for %q, checks %+v", s.Trust.Verdict, failing(s), s.Trust.Checks)
	}
}

// conversed is a run of that many sessions of three turns, a second from one to the next, after
// each made changes.
func conversed(n int, change func(r *record.Record)) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{RequestRate: 1, NumPrompts: n, Percentiles: []float64{99}, Dataset: "sessions"}})
	for i := range n {
		ready := time.Duration(i) * time.Second
		for turn := range 3 {
			r := &record.Record{Index: i, Turn: turn,
				Session: &record.Turn{Turns: 3, Ready: ready, SessionSlot: time.Duration(i) * time.Second, Reusable: -1}, Times: record.Times{Due: ready, Slot: ready, Sent: ready}, Tokens: record.Tokens{In: 100, InAsked: 100, Out: 20, OutAsked: 20}}
			if turn > 0 {
				r.Session.Waits, r.Session.Gap, r.Session.History = []int{turn - 1}, 100*msec, 50
				r.Times.Due, r.Times.Slot, r.Times.Sent = ready+100*msec, ready+100*msec, ready+100*msec
			}
			for j := range 20 {
				r.Answer.Chunks.Append(r.Times.Sent + time.Duration(50+2*j)*msec)
			}
			r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
			ready = r.Times.End
			change(r)
			c.Add(r)
			if r.Result.Class != record.OK {
				break
			}
		}
	}
	s := c.Summary(float64(n))
	s.Evidence = &evidence.Evidence{CPU: evidence.CPU{Cores: 2, Watched: time.Minute, Used: time.Second}, Stamps: evidence.Stamps{Kernel: 6000}}
	Judge(s)
	return s
}

// A tenth of plain errors of the server is no run to believe, whatever the class.
func TestATenthOfPlainErrorsIsSuspect(t *testing.T) {
	if s := conversed(100, func(*record.Record) {}); s.Trust.Verdict != verdict.Valid {
		t.Errorf("%s for %q without errors", s.Trust.Verdict, failing(s))
	}
	s := conversed(100, func(r *record.Record) {
		if (3*r.Index+r.Turn)%10 == 0 {
			r.Result.Class, r.Result.Status, r.Result.Error, r.Answer.Chunks, r.Times.Last = record.Status, 500, "busy", record.Stamps{}, 0
		}
	})
	if got := failing(s); s.Trust.Verdict != verdict.Suspect || !slices.Equal(got, []string{"failed", "broken sessions"}) {
		t.Errorf("%s for %q", s.Trust.Verdict, got)
	}
}

// The checks see in single requests what is wrong with them.
func TestTurnsOfARecordingAreChecked(t *testing.T) {
	for want, change := range map[string]func(r *record.Record){
		"order": func(r *record.Record) { // sent while the answer came
			if r.Index == 7 && r.Turn == 2 {
				r.Times.Sent = r.Session.Ready - msec
			}
		},
		"later turns": func(r *record.Record) { // each of them is late, and so little that no p99 shows it
			if r.Turn > 0 {
				r.Times.Sent += 1100 * time.Microsecond
			}
		},
		"gaps": func(r *record.Record) {
			if r.Turn > 0 {
				r.Times.Due, r.Times.Slot, r.Times.Sent = r.Session.Ready, r.Session.Ready, r.Session.Ready
			}
		},
		"history": func(r *record.Record) {
			if r.Turn > 0 {
				r.Tokens.In = 150
			}
		},
		"context overflow": func(r *record.Record) {
			if r.Index >= 90 && r.Turn == 2 {
				r.Result.Class, r.Result.Error, r.Answer.Chunks, r.Times.Last = record.Overflow, "too long", record.Stamps{}, 0
			}
		},
	} {
		s := conversed(100, change)
		if got := slices.DeleteFunc(failing(s), func(name string) bool { return name == "broken sessions" }); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %s for %q", want, s.Trust.Verdict, got)
		}
	}
}
