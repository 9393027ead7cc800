package wire

import (
	"io"
	"sync"
	"time"
)

// A pool keeps the lines that carry no request. The zero value is empty; it is safe for concurrent
// use.
type pool struct {
	mu    sync.Mutex
	lines map[origin][]*line // most recently used last
	hasty map[origin]bool    // the server closes lines after each answer
}

// take returns the most recently used line to p, nil if there is no line. It drops lines that the
// server has closed, and lines that were idle for too long. Outside Linux it cannot see that a line
// was closed; the request on that line fails.
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

// hastyWithin is how soon after an answer a server closes a line because of the answer. Servers
// that close idle lines wait for at least a second.
const hastyWithin = 500 * time.Millisecond

// died notes that the server closed l with no answer in progress. A server that does so right after
// a line's only answer does so after every answer. A server that stops, or that limits the requests
// of a line, does not count as such.
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

// unfit reports whether l has carried an answer and its server closes such lines: the close may be
// on its way.
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

// put keeps a line for the next request, if it can carry one, and closes lines that were idle for
// too long.
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

// fresh closes the lines that were idle for too long and returns the others. If the process was
// stopped for a while, all may be too old.
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

// A lentBody is the body of a reply. Closing it returns its line to the pool.
type lentBody struct {
	io.ReadCloser
	giveBack func()
}

func (b *lentBody) Close() error {
	err := b.ReadCloser.Close()
	b.giveBack()
	return err
}
