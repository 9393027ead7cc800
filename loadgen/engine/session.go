package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// A liveSession is a conversation that has begun.
type liveSession struct {
	prepared
	stage       *stage
	sessionSlot time.Duration // when it got its session slot

	mu    sync.Mutex
	turns []progress
	said  []json.RawMessage // live answers by turn; nil if the recorded ones are sent
	open  int               // turns that have been passed on and have not ended
	ended bool              // nothing more is sent: a turn failed, or the time is over
}

// A progress says how far a turn is.
type progress struct {
	waits int           // turns that it still waits for
	ready time.Duration // when the last of those that have been answered was

	once    sync.Once // guards what follows
	request *Request
	err     error
	ahead   int64 // bytes of the queue's bound that the request holds
}

// begin makes a session of p.
func (d *dispatcher) begin(p prepared, at start) *liveSession {
	s := &liveSession{prepared: p, stage: at.stage, sessionSlot: at.sessionSlot, turns: make([]progress, len(p.Turns))}
	if d.load.Target.Answer != nil && s.Remembers() {
		s.said = make([]json.RawMessage, len(p.Turns))
	}
	for i := range s.turns {
		s.turns[i].waits, s.turns[i].ready = len(p.WaitsOf(i)), p.due
	}
	s.turns[0].once.Do(func() { s.turns[0].request = p.first })
	return s
}

// waiting are the turns that wait for a turn.
func (s *liveSession) waiting(turn int) (all []int) {
	for i := turn + 1; i < len(s.Turns); i++ {
		waits := s.Turns[i].Waits
		if waits == nil && i == turn+1 || slices.ContainsFunc(waits, func(w dataset.Wait) bool { return w.Turn == turn }) {
			all = append(all, i)
		}
	}
	return all
}

// last reports whether a turn waits for one answer more.
func (s *liveSession) last(turn int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns[turn].waits == 1
}

// bodySize is about how many bytes the body of a turn has.
func (s *liveSession) bodySize(turn int) int64 {
	t := &s.Turns[turn]
	return int64(eachBytes + 8*t.PromptLen + len(t.Messages) + len(t.Prompt))
}

// roots are the turns that wait for nothing.
func (s *liveSession) roots() (all []int) {
	for i := range s.turns {
		if s.turns[i].waits == 0 {
			all = append(all, i)
		}
	}
	return all
}

// encode makes the request of a turn, once.
func (s *liveSession) encode(t *Target, turn int) error {
	p := &s.turns[turn]
	p.once.Do(func() {
		s.mu.Lock()
		said := slices.Clone(s.said)
		s.mu.Unlock()
		if p.request, p.err = t.Encode(s.Conversation, turn, said); p.err != nil {
			p.err = fmt.Errorf("encoding turn %d of request %d: %w", turn, s.index, p.err)
		}
	})
	return p.err
}

// dueOf is when a turn is due whose waits have been answered.
func (d *dispatcher) dueOf(s *liveSession, turn int) time.Duration {
	ready := s.turns[turn].ready
	if at := s.at(turn); at != nil && d.load.Absolute {
		return max(*at, ready)
	}
	return later(ready, s.Turns[turn].Gap)
}

// at is when the recording had a turn sent, on the run's clock; nil if that is not known.
func (s *liveSession) at(turn int) *time.Duration {
	at := s.Turns[turn].At
	if at == nil {
		return nil
	}
	began := 0.0
	if s.Due != nil {
		began = *s.Due
	}
	return new(later(s.due, *at-began))
}

// later is so many seconds after an instant, or the last instant there is.
func later(at time.Duration, seconds float64) time.Duration {
	return at + min(dataset.Seconds(seconds), math.MaxInt64-max(at, 0))
}

// answered notes the answer to a turn and returns the turns that wait for nothing now.
func (s *liveSession) answered(turn int, at time.Duration, answer json.RawMessage) (ready []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said != nil {
		s.said[turn] = answer
	}
	for _, i := range s.waiting(turn) {
		p := &s.turns[i]
		p.ready = max(p.ready, at)
		if p.waits--; p.waits == 0 {
			ready = append(ready, i)
		}
	}
	return ready
}

// pass notes that n more turns have been passed on, unless nothing more is sent.
func (s *liveSession) pass(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.open += n
	}
	return !s.ended
}

// left notes that a turn that was passed on has ended, or is not sent, which ends the session. It
// reports whether the session is over.
func (s *liveSession) left(last bool) (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.ended = s.ended || last
	return s.open == 0
}

// step is the place of a turn in its session.
func (s *liveSession) step(turn int) *record.Turn {
	t := &s.Turns[turn]
	step := &record.Turn{
		ID: s.ID, Turns: len(s.Turns), Agent: t.Agent, Tool: t.Tool, Early: s.stage.phase == record.WarmUp,
		Ready: s.turns[turn].ready, Gap: dataset.Seconds(t.Gap), At: s.at(turn),
		Took: dataset.Seconds(t.Took), SessionSlot: s.sessionSlot, Reusable: -1,
	}
	for _, wait := range s.WaitsOf(turn) {
		step.Waits = append(step.Waits, wait.Turn)
		if wait.History == dataset.Nothing {
			continue
		}
		before := &s.Turns[wait.Turn]
		step.Answered += before.OutputLen
		if wait.History == dataset.Everything {
			step.History = before.PromptLen + before.OutputLen
		}
	}
	return step
}
