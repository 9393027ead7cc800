package engine

import (
	"sync"
	"time"
)

// slots bound what happens at the same time. A nil *slots has no bound. If several wait for a slot,
// a later turn of a session goes before a first turn: its session ends the sooner, and the server
// knows its prefix. If breadth is set, a first turn goes before a later turn.
type slots struct {
	breadth bool
	mu      sync.Mutex
	free    int
	claims  int                   // free slots that first turns must leave to later turns that are due
	waiting [2]chan time.Duration // who waits, by rank; nil if nobody does
}

// A rank says which turns take slots. One goroutine takes the slots of a rank.
type rank int

const (
	laterTurn rank = iota
	firstTurn
)

func newSlots(n int, breadth bool) *slots {
	if n <= 0 {
		return nil
	}
	return &slots{free: n, breadth: breadth}
}

// claim keeps the next free slot for a later turn, which takes it or gives the claim back.
func (s *slots) claim() { s.change(0, func() { s.claims++ }) }

// unclaim gives a claim back.
func (s *slots) unclaim() { s.change(0, func() { s.claims-- }) }

// release frees a slot at an instant of the run, which may be a little in the past.
func (s *slots) release(at time.Duration) { s.change(at, func() { s.free++ }) }

// change changes s under its lock, and gives slots that are free since then to those who wait.
func (s *slots) change(since time.Duration, by func()) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	by()
	order := []rank{laterTurn, firstTurn}
	if s.breadth {
		order = []rank{firstTurn, laterTurn}
	}
	for _, r := range order {
		given := s.waiting[r]
		if given == nil || !s.grab(r) {
			continue
		}
		s.waiting[r] = nil
		given <- since
	}
}

// grab takes a slot if one is free for that rank.
func (s *slots) grab(r rank) bool {
	switch {
	case s.free == 0, r == firstTurn && s.free <= s.claims && !s.breadth, r == laterTurn && s.breadth &&
		s.waiting[firstTurn] != nil:
		return false
	case r == laterTurn:
		s.claims--
	}
	s.free--
	return true
}

// take takes a slot if one is free. A later turn must have claimed it.
func (s *slots) take(r rank) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grab(r)
}

// await waits for a slot: the channel yields when it was freed. The caller must receive from it, or
// leave.
func (s *slots) await(r rank) <-chan time.Duration {
	given := make(chan time.Duration, 1)
	s.change(0, func() { s.waiting[r] = given })
	return given
}

// leave ends the wait for a slot, and frees one that was given meanwhile.
func (s *slots) leave(r rank, given <-chan time.Duration) {
	s.change(0, func() { s.waiting[r] = nil })
	select {
	case at := <-given:
		s.giveBack(r, at)
	default:
	}
}

// giveBack frees a slot that was taken for nothing. A later turn has its claim again.
func (s *slots) giveBack(r rank, at time.Duration) {
	s.change(at, func() {
		if s.free++; r == laterTurn {
			s.claims++
		}
	})
}
