package wire

import (
	"io"
	"sync"
	"time"
)

// A pool keeps the lines that carry no request. The zero value is empty; it is safe for concurrent
// use.
type pool struct {
	mu      sync.Mutex
	lines   map[origin][]*link // most recently put last
	hasty   map[origin]bool    // the server closes lines after each answer
	warm    bool               // lines are opened beforehand
	opening map[origin]int     // lines that are being opened beforehand
}

// take returns a line to p, nil if there is no line. It is the most recently used one, so lines that
// nobody needs grow old. If lines are opened beforehand it is the oldest one, so that all of them
// stay in use. take drops lines that the server has closed, and lines that were idle for too long
// since an answer. Outside Linux it cannot see that a line was closed; the request on that line
// fails.
func (s *pool) take(p origin) *link {
	for {
		l := s.pick(p)
		if l == nil {
			return nil
		}
		old := l.idle() > idleTimeout
		if !old && l.open() && !s.unfit(l) {
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
func (s *pool) died(l *link) {
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
func (s *pool) unfit(l *link) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.answers > 0 && s.hasty[l.to]
}

// pick removes and returns the line whose turn it is, nil if there is no line.
func (s *pool) pick(p origin) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines[p]
	n := len(lines)
	switch {
	case n == 0:
		return nil
	case s.warm:
		l := lines[0]
		lines[0], s.lines[p] = nil, lines[1:]
		return l
	}
	s.lines[p] = lines[:n-1]
	return lines[n-1]
}

// idle is how long l has waited for a request since its last answer. A line without an answer does
// not count as idle: servers close it late or never, and alive shows whether they did.
func (l *link) idle() time.Duration {
	if l.answers == 0 {
		return 0
	}
	return time.Since(l.since)
}

// put keeps a line for the next request, if it can carry one, and closes lines that were idle for
// too long.
func (s *pool) put(l *link) {
	if l.Available() == 0 {
		l.Close()
		return
	}
	l.used, l.since = true, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = map[origin][]*link{}
	}
	s.lines[l.to] = fresh(append(s.lines[l.to], l))
}

// fresh closes the lines that were idle for too long and returns the others. If the process was
// stopped for a while, all may be too old.
func fresh(lines []*link) []*link {
	for len(lines) > 0 && lines[0].idle() > idleTimeout {
		lines[0].Close()
		lines = lines[1:]
	}
	return lines
}

// keepWarm makes take return the oldest line.
func (s *pool) keepWarm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warm = true
}

// reserve reports whether to open one more line to p: if fewer than n lie ready or are being
// opened, and all lines together, busy ones included, are fewer than limit. The caller opens the
// line and calls opened.
func (s *pool) reserve(p origin, n, busy, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh(p)
	have := len(s.lines[p]) + s.opening[p]
	if have >= n || limit > 0 && have+busy >= limit {
		return false
	}
	if s.opening == nil {
		s.opening = map[origin]int{}
	}
	s.opening[p]++
	return true
}

// opened keeps l, for which there was a reserve. l is nil if it could not be opened.
func (s *pool) opened(l *link, p origin) {
	if l != nil {
		s.put(l)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opening[p]--
}

// refresh drops lines to p that will soon have been idle for too long, and lines without an answer
// that the server has closed. It looks at a line again after half of idleTimeout.
func (s *pool) refresh(p origin) {
	for range len(s.lines[p]) {
		l := s.lines[p][0]
		if time.Since(l.since) <= idleTimeout/2 {
			return
		}
		s.lines[p] = s.lines[p][1:]
		if l.answers > 0 || !l.open() {
			l.Close()
			continue
		}
		l.since = time.Now()
		s.lines[p] = append(s.lines[p], l)
	}
}

// sweep drops the lines to p that the server has closed and returns their number.
func (s *pool) sweep(p origin) (dead int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.lines[p][:0]
	for _, l := range s.lines[p] {
		if l.open() {
			kept = append(kept, l)
			continue
		}
		l.Close()
		dead++
	}
	if dead > 0 {
		s.lines[p] = kept
	}
	return dead
}

// open reports whether neither side has closed l.
func (l *link) open() bool { return l.Err() == nil && l.alive() }

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

// A pooledBody is the body of a reply. Closing it returns its link to the pool.
type pooledBody struct {
	io.ReadCloser
	giveBack func()
}

func (b *pooledBody) Close() error {
	err := b.ReadCloser.Close()
	b.giveBack()
	return err
}
