package loadgen

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// A line is an HTTP/1.1 connection. It carries one request at a time.
type line struct {
	*http.ClientConn
	to      place
	proxied bool
	conn    *stampedConn // beneath it, and beneath TLS
	used    bool         // it has carried a request, or was opened before there was one
	since   time.Time    // when it was last put away
}

// lacks names what a line that is being opened waits for.
func (l *line) lacks() string {
	switch {
	case l.conn == nil:
		return "connection"
	case l.proxied:
		return "connection through the proxy"
	}
	return "TLS handshake"
}

// A place is where lines lead to.
type place struct{ scheme, addr string }

// A pool keeps the lines that carry no request. The zero value is empty; it is
// safe for concurrent use.
type pool struct {
	mu    sync.Mutex
	lines map[place][]*line // put away last at the end
}

// take gives the line to p that was used last, nil when there is none. The lines
// that the server has closed or that lay idle for too long are dropped. Outside
// Linux a closing is not seen, and the request that gets such a line fails.
func (s *pool) take(p place) *line {
	for {
		l := s.last(p)
		if l == nil || l.Err() == nil && time.Since(l.since) <= IdleTimeout && l.conn.alive() {
			return l
		}
		l.Close()
	}
}

func (s *pool) last(p place) *line {
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
		s.lines = map[place][]*line{}
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
