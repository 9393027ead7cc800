package engine

import (
	"sync"
	"time"
)

// slots bound what goes on at the same time. A nil *slots has no bound.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting [2]chan time.Duration // who waits, by rank; nil if nobody does
}

// A rank says who gets a slot first if several wait. At most one of each rank waits.
type rank int

const (
	laterTurn rank = iota // of a session that has begun: it ends the sooner, and its prefix is known
	firstTurn
)

func newSlots(n int) *slots {
	if n <= 0 {
		return nil
	}
	return &slots{free: n}
}

// take takes a slot if one is free.
func (s *slots) take() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

// await waits for a slot: the channel yields when it was freed. The caller must receive from it, or
// leave.
func (s *slots) await(r rank) <-chan time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := make(chan time.Duration, 1)
	if s.free > 0 {
		s.free--
		given <- 0
	} else {
		s.waiting[r] = given
	}
	return given
}

// leave ends the wait for a slot, and frees one that was given meanwhile.
func (s *slots) leave(r rank, given <-chan time.Duration) {
	s.mu.Lock()
	s.waiting[r] = nil
	s.mu.Unlock()
	select {
	case at := <-given:
		s.release(at)
	default:
	}
}

// release frees a slot at an instant of the run, which may be a little in the past.
func (s *slots) release(at time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, given := range s.waiting {
		if given != nil {
			s.waiting[r] = nil
			given <- at
			return
		}
	}
	s.free++
}
