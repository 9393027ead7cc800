package wire

import (
	"io"
	"sync"
	"time"
)

// A pool keeps the lines that carry no request. The zero value is empty; it is
// safe for concurrent use.
type pool struct {
	mu    sync.Mutex
	lines map[origin][]*line // put away last at the end
	hasty map[origin]bool    // the server there closes lines after their answers
}

// take gives the line to p that was used last, nil when there is none. The lines
// that the server has closed or that lay idle for too long are dropped. Outside
// Linux a closing is not seen, and the request that gets such a line finds out.
func (s *pool) take(p origin) *line {
	for {
		l := s.last(p)
		if l == nil {
			return nil
		}
		old := time.Since(l.since) > IdleTimeout
		if !old && l.Err() == nil && l.conn.alive() && !s.unfit(l) {
			return l
		}
		if !old {
			s.died(l)
		}
		l.Close()
	}
}

// hastyWithin is how soon after an answer a server closes a line because of the
// answer. What closes idle lines waits for a second at least.
const hastyWithin = 500 * time.Millisecond

// died notes that the server closed l while no answer was under way. A server that
// does so right after the only answer of a line does so after every answer; one
// that stops, or has lines carry so many requests and no more, is not taken for it.
func (s *pool) died(l *line) {
	if l.answers != 1 || time.Since(l.since) > hastyWithin {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasty == nil {
		s.hasty = map[origin]bool{}
	}
	s.hasty[l.to] = true
}

// unfit says whether l has carried an answer and its server closes such lines: the
// closing may be on its way.
func (s *pool) unfit(l *line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.answers > 0 && s.hasty[l.to]
}

func (s *pool) last(p origin) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.lines[p])
	if n == 0 {
		return nil
	}
	l := s.lines[p][n-1]
	s.lines[p] = s.lines[p][:n-1]
	return l
}

// put puts a line away for the next request, if it can carry one, and closes
// those that have lain idle for too long.
func (s *pool) put(l *line) {
	if l.Available() == 0 {
		l.Close()
		return
	}
	l.used, l.since = true, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = map[origin][]*line{}
	}
	s.lines[l.to] = fresh(append(s.lines[l.to], l))
}

// fresh closes the lines that have lain idle for too long and gives the others. It
// may be all of them, where the process stood still.
func fresh(lines []*line) []*line {
	for len(lines) > 0 && time.Since(lines[0].since) > IdleTimeout {
		lines[0].Close()
		lines = lines[1:]
	}
	return lines
}

// close closes all lines.
func (s *pool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lines := range s.lines {
		for _, l := range lines {
			l.Close()
		}
	}
	s.lines = nil
}

// A lentBody is the body of a reply. Closing it gives back the line that it came
// over.
type lentBody struct {
	io.ReadCloser
	giveBack func()
}

func (b *lentBody) Close() error {
	err := b.ReadCloser.Close()
	b.giveBack()
	return err
}
