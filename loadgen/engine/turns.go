package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// goOn sends the later turns of the sessions that have begun, each when it is due and has a slot,
// until all sessions are over, requests are cut or ctx ends.
func (d *dispatcher) goOn(ctx context.Context) error {
	uncut, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(d.inFlight, stop)()
	wait, done, err := waiter(d.wait)
	if err != nil {
		return err
	}
	defer done()
	for {
		next, err := d.later.next(uncut, d.epoch, wait)
		if next == nil || err != nil {
			return err
		}
		s := next.of
		if !next.ready {
			next.ready = true
			d.crew.group.Go(func() error { return s.encode(&d.load.Target, next.turn) })
			d.later.push(next)
			continue
		}
		if !next.claimed {
			d.slots.claim()
		}
		last := &d.queues[len(d.queues)-1].stage
		if !s.pass(0) || last.over(next.due) || !d.laterTurns.take(uncut, last, nil) {
			d.slots.unclaim()
			d.leave(s, true)
			continue
		}
		if !s.pass(0) { // it has ended meanwhile
			d.slots.release(d.now())
			d.leave(s, true)
			continue
		}
		slot := max(next.due, d.laterTurns.freed)
		d.crew.run(func() error { return d.turn(ctx, s, next.turn, next.due, slot) })
	}
}

// phaseOf is the phase of a turn that is due then: the measured part has the turns that are due in
// it, whenever their session began.
func (d *dispatcher) phaseOf(s *liveSession, due time.Duration) record.Phase {
	if last := &d.queues[len(d.queues)-1].stage; due >= last.from {
		return last.phase
	}
	return s.stage.phase
}

// turn sends one turn of a session that has a slot, and passes on what waited for it alone. A turn
// that fails ends its session.
func (d *dispatcher) turn(ctx context.Context, s *liveSession, turn int, due, slot time.Duration) error {
	if err := s.encode(&d.load.Target, turn); err != nil {
		return err
	}
	d.encodeAhead(s, turn)
	rec := &record.Record{
		Index: s.index, Turn: turn, Phase: d.phaseOf(s, due), Session: s.step(turn),
		Times:  record.Times{Due: due, Slot: slot},
		Tokens: record.Tokens{InAsked: s.Turns[turn].PromptLen, OutAsked: s.Turns[turn].OutputLen},
	}
	d.lookUp(s, turn, rec)
	d.send(ctx, s.turns[turn].request, rec)
	d.forget(s, turn)
	end := rec.Times.LastByte
	if end == 0 {
		end = rec.Times.End
	}
	stopped := rec.Result.Class != record.OK || ctx.Err() != nil || d.inFlight.Err() != nil
	var said json.RawMessage
	if answer := d.load.Target.Answer; s.said != nil {
		said = answer(rec)
	}
	d.records <- rec
	if !stopped {
		d.passOn(s, turn, end, said)
	}
	d.leave(s, stopped) // before another turn of it gets the slot
	d.slots.release(end)
	return nil
}

// passOn passes on the turns that waited for one that was answered then, and now wait for nothing
// else.
func (d *dispatcher) passOn(s *liveSession, turn int, at time.Duration, said json.RawMessage) {
	ready := s.answered(turn, at, said)
	if !s.pass(len(ready)) {
		return
	}
	for _, turn := range ready {
		next := d.followUp(s, turn)
		if next.due <= at {
			next.claimed = true
			d.slots.claim()
		}
		d.later.push(next)
	}
}

// followUp is a turn whose waits have been answered. If it is due when nothing is sent any more, its
// session waits until then only, in its place.
func (d *dispatcher) followUp(s *liveSession, turn int) *followUp {
	next := &followUp{of: s, turn: turn, due: d.dueOf(s, turn)}
	if last := &d.queues[len(d.queues)-1].stage; last.over(next.due) {
		next.due, next.ready = last.stop, true
	}
	return next
}

// leave notes that a turn of a session has ended or is not sent. A session that is over leaves its
// place.
func (d *dispatcher) leave(s *liveSession, last bool) {
	if !s.left(last) {
		return
	}
	for i := range s.turns {
		d.ahead.Release(s.turns[i].ahead) // of turns that are never sent
	}
	d.live.over(s.stage.phase)
	d.sessions.slots.release(d.now())
	d.later.change(func() { d.later.open-- })
}

// encodeAhead encodes the turns that wait for this turn alone and follow it at once, if their
// prompts do not depend on its answer and there is room for them.
func (d *dispatcher) encodeAhead(s *liveSession, turn int) {
	if s.said != nil {
		return
	}
	for _, next := range s.waiting(turn) {
		bytes := s.bodySize(next)
		if s.last(next) && s.Turns[next].Gap < encodeLead.Seconds() && d.ahead.TryAcquire(bytes) {
			s.turns[next].ahead = bytes
			d.crew.group.Go(func() error { return s.encode(&d.load.Target, next) })
		}
	}
}

// forget drops the request of a turn that has been sent.
func (d *dispatcher) forget(s *liveSession, turn int) {
	p := &s.turns[turn]
	p.request = nil
	d.ahead.Release(p.ahead)
	p.ahead = 0
}

// lookUp notes how much of a turn's prompt a prefix cache without limit has when the turn is sent.
func (d *dispatcher) lookUp(s *liveSession, turn int, rec *record.Record) {
	if d.load.Reusable == nil {
		return
	}
	rec.Session.Reusable = d.load.Reusable(s.Conversation, turn)
}
