package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// these is a Source of conversations with ids from a.
func these(turns ...[]dataset.Turn) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for i, t := range turns {
			if !yield(&dataset.Conversation{ID: string(rune('a' + i)), Turns: t}, nil) {
				return
			}
		}
	}
}

// order has waits for the order alone.
func order(turns ...int) []dataset.Wait {
	waits := []dataset.Wait{}
	for _, turn := range turns {
		waits = append(waits, dataset.Wait{Turn: turn})
	}
	return waits
}

// chain is a chain of turns with that gap, in seconds.
func chain(n int, gap float64) []dataset.Turn {
	turns := make([]dataset.Turn, n)
	for i := 1; i < n; i++ {
		turns[i].Gap = gap
	}
	return turns
}

// encodeTurn names a request by its session and turn, as b/2.
func encodeTurn(c *dataset.Conversation, turn int, _ []json.RawMessage) (*Request, error) {
	return &Request{ID: fmt.Sprintf("%s/%d", c.ID, turn)}, nil
}

// told says of each request, in the order of sending, what was due when and sent when, in seconds.
func told(t *testing.T, load Load) string {
	t.Helper()
	if load.Target.Encode == nil {
		load.Target.Encode = encodeTurn
	}
	all := collect(t, oneLoad(load))
	slices.SortFunc(all, func(a, b *record.Record) int {
		return cmp.Or(cmp.Compare(a.Times.Sent, b.Times.Sent), strings.Compare(a.ID, b.ID))
	})
	var lines []string
	for _, rec := range all {
		if rec.Lag() != 0 {
			t.Errorf("%s: lag %v", rec.ID, rec.Lag())
		}
		line := fmt.Sprintf("%s %v", rec.ID, rec.Times.Due.Seconds())
		if rec.Queue() != 0 {
			line += fmt.Sprintf("+%v", rec.Queue().Seconds())
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

func TestSessionsAreSentTurnByTurn(t *testing.T) {
	second := Target{Send: answer(time.Second, 0, 1)}
	at := func(s float64) *float64 { return &s }
	// a job with two sub-agents, one of which nobody waits for
	job := []dataset.Turn{
		{At: at(0)},
		{Waits: order(0), Gap: 0.5, At: at(2.5), Agent: "A"},
		{Waits: order(1), At: at(3.5), Agent: "A"},
		{Waits: order(0), Gap: 1, At: at(3), Agent: "B"},
		{Waits: order(0), Gap: 1, At: at(3), Agent: "C"},
		{Waits: order(0, 2, 3), At: at(7)},
		{Waits: order(5), Gap: 300, At: at(310)},
	}
	for _, row := range []struct {
		name string
		load Load
		want string
	}{
		{"a chain waits for its gaps", Load{Source: these(chain(3, 2), chain(2, 0)), Schedule: every(500 * time.Millisecond)},
			"a/0 0, b/0 0.5, b/1 1.5, a/1 3, a/2 6"},
		{"a join waits for the last, nobody for C", Load{Source: these(job)},
			"a/0 0, a/1 1.5, a/3 2, a/4 2, a/2 2.5, a/5 3.5, a/6 304.5"},
		{"absolute times", Load{Source: these(job), Absolute: true},
			"a/0 0, a/1 2.5, a/3 3, a/4 3, a/2 3.5, a/5 7, a/6 310"},
		{"absolute times that a server cannot keep", Load{Source: these(job), Absolute: true, Target: Target{Send: answer(4*time.Second, 0, 1)}},
			"a/0 0, a/1 4, a/3 4, a/4 4, a/2 8, a/5 12, a/6 310"},
		{"agents begin at once", Load{Source: these([]dataset.Turn{{}, {Waits: order()}, {Waits: order(), Gap: 3}, {Waits: order(0, 1, 2)}})},
			"a/0 0, a/1 0, a/2 3, a/3 4"},
		{"the first turn may have a gap, too", Load{Source: these([]dataset.Turn{{Gap: 2}, {Gap: 1}}, chain(1, 0)), Concurrency: 1, Sessions: 2, Schedule: every(0)},
			"b/0 0, a/0 2, a/1 4"},
		{"a slot is not held through a gap", Load{Source: these(chain(2, 5), chain(2, 5)), Concurrency: 1, Schedule: every(0)},
			"a/0 0, b/0 0+1, a/1 6, b/1 7"},
		{"a later turn goes before a first turn", Load{Source: these(chain(2, 0), chain(2, 0), chain(1, 0)), Concurrency: 1, Schedule: every(0)},
			"a/0 0, a/1 1, b/0 0+2, b/1 3, c/0 0+4"},
		{"first turns go before", Load{Source: these(chain(2, 0), chain(2, 0), chain(1, 0)), Concurrency: 1, Schedule: every(0), Breadth: true},
			"a/0 0, b/0 0+1, c/0 0+2, a/1 1+2, b/1 2+2"},
		{"a session slot is held through gaps", Load{Source: these(chain(2, 5), chain(2, 5), chain(1, 0)), Sessions: 1, Schedule: every(0)},
			"a/0 0, a/1 6, b/0 0+7, b/1 13, c/0 0+14"},
		{"a closed loop keeps its session slots filled", Load{Source: these(chain(2, 5), chain(1, 0), chain(1, 0)), Sessions: 2},
			"a/0 0, b/0 0, c/0 1, a/1 6"},
		{"later turns go before first turns", Load{Source: these(chain(3, 0), chain(2, 0), chain(1, 0)), Concurrency: 1, Schedule: every(0)},
			"a/0 0, a/1 1, a/2 2, b/0 0+3, b/1 4, c/0 0+5"},
		{"among later turns the first due", Load{Source: these(chain(2, 0.9), chain(2, 0.5), chain(1, 0)), Concurrency: 1, Schedule: every(0)},
			"a/0 0, b/0 0+1, a/1 1.9+0.1, b/1 2.5+0.5, c/0 0+4"},
		{"nothing is sent from the stop on", Load{Source: these(chain(9, 1)), Stop: 4 * time.Second}, "a/0 0, a/1 2"},
		{"a gap longer than time lasts", Load{Source: these(chain(2, math.MaxInt64/1e9)), Stop: time.Minute}, "a/0 0"},
		{"a delay moves all", Load{Source: these(job[:1]), Delay: time.Second, Schedule: every(0)}, "a/0 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if row.load.Target.Send == nil {
					row.load.Target = second
				}
				if got := told(t, row.load); got != row.want {
					t.Errorf("got  %s\nwant %s", got, row.want)
				}
			})
		})
	}
}

func TestAStepSaysWhereARequestStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(s float64) *float64 { return &s }
		turns := []dataset.Turn{
			{At: at(0), PromptLen: 100, OutputLen: 20},
			{At: at(1), PromptLen: 150, OutputLen: 7, Gap: 0.25, Tool: true},
			{Waits: order(0, 1), At: at(5), Gap: 2, Agent: "x"},
			{Waits: []dataset.Wait{{Turn: 0, History: dataset.Everything}, {Turn: 1, History: dataset.AnswerOnly}, {Turn: 2}}},
		}
		var asked []int
		load := Load{Source: these(turns), Schedule: every(0), Delay: time.Second, Sessions: 1, Target: Target{Send: answer(time.Second, 0, 1)}}
		load.Reusable = func(_ *dataset.Conversation, turn int) int { asked = append(asked, turn); return 16 * turn }
		ms := func(ms int) *time.Duration { return new(time.Duration(ms) * time.Millisecond) }
		want := []record.Turn{
			{ID: "a", Turns: 4, Ready: *ms(1000), At: ms(1000), SessionSlot: *ms(1000)},
			{ID: "a", Turns: 4, Ready: *ms(2000), At: ms(2000), SessionSlot: *ms(1000), Gap: *ms(250), Tool: true, Waits: []int{0}, History: 120, Answered: 20, Reusable: 16},
			{ID: "a", Turns: 4, Ready: *ms(3250), At: ms(6000), SessionSlot: *ms(1000), Gap: *ms(2000), Agent: "x", Waits: []int{0, 1}, Reusable: 32},
			{ID: "a", Turns: 4, Ready: *ms(6250), SessionSlot: *ms(1000), Waits: []int{0, 1, 2}, History: 120, Answered: 27, Reusable: 48},
		}
		for _, rec := range collect(t, oneLoad(load)) {
			if got, want := asJSON(t, rec.Session), asJSON(t, want[rec.Turn]); got != want {
				t.Errorf("turn %d: %s, want %s", rec.Turn, got, want)
			}
		}
		if !slices.Equal(asked, []int{0, 1, 2, 3}) {
			t.Errorf("asked what is reusable for turns %v", asked)
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What a turn waits for ends when its last byte arrives, not when this process has noticed.
func TestATurnIsDueFromTheLastByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noticing := func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
			return func(yield func(Chunk, error) bool) {
				for c, err := range answer(time.Second, 0, 1)(ctx, epoch, req, rec) {
					yield(c, err)
				}
				rec.Times.LastByte = time.Since(epoch)
				time.Sleep(3 * time.Millisecond)
			}
		}
		all := collect(t, oneLoad(Load{Source: these(chain(3, 0.001)), Concurrency: 1, Target: Target{Send: noticing}}))
		for i, rec := range all {
			due := time.Duration(0)
			if i > 0 {
				due = all[i-1].Times.Sent + 1001*time.Millisecond
			}
			if rec.Times.Due != due || i > 0 && (rec.Lag() != 2*time.Millisecond || rec.Queue() != 0 || rec.Session.Ready != due-time.Millisecond) {
				t.Errorf("turn %d: due %v, queue %v, lag %v, ready %v", i, rec.Times.Due, rec.Queue(), rec.Lag(), rec.Session.Ready)
			}
		}
		// A slot that others wait for is free from then on, too.
		all = collect(t, oneLoad(Load{Source: these(chain(2, 0), chain(2, 0)), Concurrency: 1, Schedule: every(0), Target: Target{Send: noticing}}))
		if first := all[2]; first.Index != 1 || first.Times.Slot != all[1].Times.Sent+time.Second || first.Lag() != 3*time.Millisecond {
			t.Errorf("session %d got its slot at %v, lag %v", first.Index, first.Times.Slot, first.Lag())
		}
	})
}

func TestAFailedTurnEndsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		send := func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
			if req.ID == "a/1" {
				return func(yield func(Chunk, error) bool) {
					time.Sleep(time.Second)
					yield(Chunk{}, record.Failf(record.Status, "no"))
				}
			}
			return answer(3*time.Second, 0, 1)(ctx, epoch, req, rec)
		}
		turns := []dataset.Turn{{}, {Waits: order(0), Agent: "A"}, {Waits: order(0), Agent: "B"}, {Waits: order(2), Agent: "B"}, {Waits: order(1, 3)}}
		got := told(t, Load{Source: these(turns, chain(1, 0)), Sessions: 1, Target: Target{Send: send}})
		if want := "a/0 0, a/1 3, a/2 3, b/0 6"; got != want {
			t.Errorf("got %s, want %s: what is in flight ends, and leaves the session slot", got, want)
		}
	})
}

func TestASessionOfTheWarmUpGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneLoad(Load{
			Source: these(chain(2, 0)), Schedule: every(0), Target: Target{Send: answer(time.Second, 0, 1), Encode: encodeTurn},
			WarmUp: WarmUp{Lasts: 2500 * time.Millisecond, Source: these(chain(4, 0.1)), Schedule: every(0)},
		})
		var got []string
		for rec := range r.Records(t.Context()) {
			got = append(got, fmt.Sprintf("%s %v%v %v", rec.ID, rec.Phase, rec.Session.Early, rec.Times.Due))
		}
		slices.Sort(got)
		want := []string{
			"a/0 warm-uptrue 0s", "a/1 warm-uptrue 1.1s", "a/2 warm-uptrue 2.2s", "a/3 true 3.3s",
			"a/0 false 2.5s", "a/1 false 3.5s",
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestLiveAnswersGoIntoLaterPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, live := range []bool{true, false} {
			var mu sync.Mutex
			said := map[string]string{}
			target := Target{Send: answer(time.Second, 0, 1), Encode: func(c *dataset.Conversation, turn int, answers []json.RawMessage) (*Request, error) {
				mu.Lock()
				defer mu.Unlock()
				said[fmt.Sprint(c.ID, turn)] = asJSON(t, answers)
				return encodeTurn(c, turn, nil)
			}}
			want := map[string]string{"a0": "null", "a1": "null", "a2": "null"}
			if live {
				target.Answer = func(rec *record.Record) json.RawMessage { return json.RawMessage(fmt.Sprint(10 + rec.Turn)) }
				want = map[string]string{"a0": "null", "a1": "[10,null,null]", "a2": "[10,11,null]"}
			}
			collect(t, oneLoad(Load{Source: these(chain(3, 0)), Target: target}))
			if fmt.Sprint(said) != fmt.Sprint(want) {
				t.Errorf("live %v: got %v, want %v", live, said, want)
			}
		}
	})
}

// A prompt that depends on no live answer is encoded before it is due: at once if it may follow at
// once, else shortly before.
func TestLaterTurnsAreEncodedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, row := range []struct {
			gap  float64
			live bool
			want []time.Duration
		}{
			{0, false, []time.Duration{0, 0, time.Second}},
			{60, false, []time.Duration{0, 61*time.Second - encodeLead, 122*time.Second - encodeLead}},
			{0, true, []time.Duration{0, time.Second, 2 * time.Second}},
			{60, true, []time.Duration{0, 61*time.Second - encodeLead, 122*time.Second - encodeLead}},
		} {
			var mu sync.Mutex
			at := make([]time.Duration, 3)
			start := time.Now()
			target := Target{Send: answer(time.Second, 0, 1), Encode: func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*Request, error) {
				mu.Lock()
				defer mu.Unlock()
				at[turn] = time.Since(start)
				return encodeTurn(c, turn, nil)
			}}
			if row.live {
				target.Answer = func(*record.Record) json.RawMessage { return json.RawMessage("0") }
			}
			collect(t, oneLoad(Load{Source: these(chain(3, row.gap)), Target: target}))
			if !slices.Equal(at, row.want) {
				t.Errorf("gap %v, live %v: encoded at %v, want %v", row.gap, row.live, at, row.want)
			}
		}
	})
}

// A join is due from the latest of the last bytes, also if an earlier one is noticed later.
func TestAJoinIsDueFromTheLatestLastByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := map[string]time.Duration{"a/0": 0, "a/1": 3 * time.Second, "a/2": 2 * time.Second, "a/3": 0}
		noticed := map[string]time.Duration{"a/1": 3 * time.Second, "a/2": 4 * time.Second}
		send := func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
			rec.Times.LastByte = last[req.ID]
			return answer(noticed[req.ID]+1, 0, 1)(ctx, epoch, req, rec)
		}
		turns := []dataset.Turn{{}, {Waits: order(0)}, {Waits: order(0)}, {Waits: order(1, 2), Gap: 2}}
		for _, rec := range collect(t, oneLoad(Load{Source: these(turns), Target: Target{Send: send, Encode: encodeTurn}})) {
			if rec.Turn == 3 && rec.Times.Due != 5*time.Second {
				t.Errorf("due at %v, want 2s after the answer at 3s", rec.Times.Due)
			}
		}
	})
}

// A turn that is dropped as its session ends leaves the slot that it has claimed to others.
func TestADroppedTurnGivesItsClaimBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fork := []dataset.Turn{{}, {Waits: order(0)}, {Waits: order(0)}, {Waits: order(0), Gap: 5}}
		send := func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
			if req.ID == "a/1" {
				return func(yield func(Chunk, error) bool) { yield(Chunk{}, record.Failf(record.Reset, "reset")) }
			}
			return answer(time.Second, 0, 1)(ctx, epoch, req, rec)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var got []string
		r := oneLoad(Load{Source: these(fork, chain(1, 0)), Concurrency: 1, Schedule: every(10 * time.Second), Target: Target{Send: send, Encode: encodeTurn}})
		for rec, err := range r.Records(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rec.ID)
		}
		if want := []string{"a/0", "a/1", "b/0"}; !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

func TestASlotGivenBackIsStillClaimed(t *testing.T) {
	s := newSlots(1, false)
	s.claim()
	if !s.take(laterTurn) {
		t.Fatal("no slot for the later turn")
	}
	s.giveBack(laterTurn, 0)
	if s.take(firstTurn) {
		t.Error("a first turn took the slot that a later turn has claimed")
	}
	s.unclaim()
	if !s.take(firstTurn) {
		t.Error("no slot for the first turn")
	}
}

// A session that waits for its first slot when the warm-up ends leaves its session slot to the measured
// part, which has the turns that are due from then on.
func TestTheWarmUpLeavesPlacesAtTheHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := Load{
			Source: these(chain(2, 0)), Sessions: 2, Concurrency: 1, Target: Target{Send: answer(10*time.Second, 0, 1)},
			WarmUp: WarmUp{Lasts: 3 * time.Second, Source: these(chain(1, 0), chain(2, 0))},
		}
		for _, rec := range collect(t, oneLoad(load)) {
			if rec.Phase == record.Main && rec.Session.SessionSlot != 3*time.Second {
				t.Errorf("turn %d: session slot at %v, want 3s", rec.Turn, rec.Session.SessionSlot)
			}
		}
		load = Load{Source: these(chain(1, 0)), Target: Target{Send: answer(time.Second, 0, 1)}, WarmUp: WarmUp{Lasts: 3 * time.Second, Source: these(chain(3, 0.5))}}
		var early []record.Phase
		for _, rec := range collect(t, oneLoad(load)) {
			if rec.Session != nil {
				early = append(early, rec.Phase)
			}
		}
		if want := []record.Phase{record.WarmUp, record.WarmUp, record.Main}; !slices.Equal(early, want) {
			t.Errorf("phases %q, want %q: the last turn is due at the hand-over", early, want)
		}
	})
}

// A gap that reaches beyond the end of the run does not make it longer. Until then its session keeps
// its place.
func TestAGapDoesNotStretchTheRun(t *testing.T) {
	hour := func() Load {
		return Load{Source: these(chain(2, 3600), chain(1, 0)), Sessions: 1, Target: Target{Send: answer(time.Second, 0, 1), Encode: encodeTurn}}
	}
	stopped, drained, absolute := hour(), hour(), hour()
	stopped.Stop = 10 * time.Second
	drained.DrainLimit, drained.Sessions = 10*time.Second, 2
	absolute.Stop, absolute.Absolute = 10*time.Second, true
	first := hour()
	first.Source, first.Stop = these([]dataset.Turn{{Gap: 3600}, {Waits: order()}}), 10*time.Second
	for _, test := range []struct {
		name string
		load Load
		want []string
	}{
		{"a duration", stopped, []string{"a/0"}},
		{"absolute times", absolute, []string{"a/0"}},
		{"a limit after the last session", drained, []string{"a/0", "b/0"}},
		{"a gap before a first turn", first, []string{"a/1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.load.Live = new(Live)
				start := time.Now()
				var got []string
				for _, rec := range collect(t, oneLoad(test.load)) {
					got = append(got, rec.ID)
				}
				slices.Sort(got)
				if took := time.Since(start); took != 10*time.Second || !slices.Equal(got, test.want) {
					t.Errorf("sent %q and took %v, want %q and 10s", got, took, test.want)
				}
			})
		})
	}
}

// The room of a turn that was encoded and is never sent goes to other sessions.
func TestAFailedTurnFreesWhatWasEncodedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		at := map[string]time.Duration{}
		start := time.Now()
		fails := func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
			if req.ID == "a/0" {
				return func(yield func(Chunk, error) bool) { yield(Chunk{}, record.Failf(record.Reset, "reset")) }
			}
			return answer(time.Second, 0, 1)(ctx, epoch, req, rec)
		}
		large := func() []dataset.Turn {
			turns := chain(2, 0)
			turns[1].PromptLen = aheadBytes / 8 * 2 / 3
			return turns
		}
		collect(t, oneLoad(Load{Source: these(large(), large()), Schedule: every(time.Minute), Target: Target{Send: fails,
			Encode: func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*Request, error) {
				mu.Lock()
				defer mu.Unlock()
				at[fmt.Sprint(c.ID, turn)] = time.Since(start)
				return encodeTurn(c, turn, nil)
			}}}))
		if at["b1"] != time.Minute {
			t.Errorf("encoded at %v, want b1 when b0 is sent, at 1m", at)
		}
	})
}

func TestABadLaterPromptEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, gap := range []float64{0, 60} {
			bad := errors.New("bad")
			r := oneLoad(Load{Source: these(chain(3, gap), chain(1, 0)), Sessions: 1, Target: Target{Send: answer(time.Second, 0, 1),
				Encode: func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*Request, error) {
					if turn == 2 {
						return nil, bad
					}
					return encodeTurn(c, turn, nil)
				}}})
			var last error
			for _, err := range r.Records(t.Context()) {
				last = err
			}
			if !errors.Is(last, bad) || !strings.Contains(last.Error(), "turn 2 of request 0") {
				t.Errorf("gap %v: the run ended with %v", gap, last)
			}
		}
	})
}

func TestStoppingEndsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		r := oneLoad(Load{Source: these(chain(9, 59.5), chain(9, 0)), Schedule: every(85 * time.Second), Target: Target{Send: answer(3*time.Second, 0, 1), Encode: encodeTurn}})
		r.Drain = time.Minute
		var got []string
		for rec, err := range r.Records(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %v%v", rec.ID, rec.Times.Sent, rec.Phase))
		}
		if want := "[a/0 0s a/1 1m2.5s b/0 1m25s b/1 1m28sdrain]"; fmt.Sprint(got) != want {
			t.Errorf("sent %v, want %v", got, want)
		}
	})
}

// Sessions that wait for their gaps hold no goroutines.
func TestManySessionsThink(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	synctest.Test(t, func(t *testing.T) {
		const sessions = 20_000
		most := 0
		source := func(yield func(*dataset.Conversation, error) bool) {
			for range sessions {
				if !yield(&dataset.Conversation{Turns: chain(3, 600)}, nil) {
					return
				}
			}
		}
		target := Target{Send: answer(time.Second, 0, 1), Encode: encodeTurn}
		n := 0
		for rec, err := range oneLoad(Load{Source: source, Schedule: every(10 * time.Millisecond), Target: target}).Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Lag() != 0 || rec.Times.Due != time.Duration(rec.Index)*10*time.Millisecond+time.Duration(rec.Turn)*601*time.Second {
				t.Fatalf("session %d, turn %d: due %v, lag %v", rec.Index, rec.Turn, rec.Times.Due, rec.Lag())
			}
			if n++; n%1000 == 0 {
				most = max(most, runtime.NumGoroutine())
			}
		}
		if n != 3*sessions || most > 2000 {
			t.Errorf("%d requests, up to %d goroutines", n, most)
		}
	})
}
