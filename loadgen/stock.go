package loadgen

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// A place is where connections lead: what net/http dials.
type place struct {
	addr string
	tls  bool // with the handshake done
}

// A stock keeps connections that were opened before a request needs them. The
// zero value is empty; it is safe for concurrent use.
type stock struct {
	mu    sync.Mutex
	conns map[place][]kept // oldest first
}

type kept struct {
	net.Conn
	since time.Time
}

func (s *stock) put(p place, conn net.Conn) {
	stampedUnder(conn).warmed = true
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns = map[place][]kept{}
	}
	s.conns[p] = append(s.conns[p], kept{conn, time.Now()})
}

// take gives a connection that is as good as new, nil when there is none. Those
// that are not are closed.
func (s *stock) take(p place) net.Conn {
	for {
		conn, ok := s.next(p)
		if !ok {
			return nil
		}
		if time.Since(conn.since) <= idleTimeout && stampedUnder(conn.Conn).alive() {
			return conn.Conn
		}
		conn.Close()
	}
}

// next takes the oldest one out.
func (s *stock) next(p place) (kept, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.conns[p]
	if len(all) == 0 {
		return kept{}, false
	}
	s.conns[p] = all[1:]
	return all[0], true
}

func (s *stock) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conns := range s.conns {
		for _, conn := range conns {
			conn.Close()
		}
	}
	s.conns = nil
}

// stampedUnder is the stampedConn that conn is or, under TLS, goes through; nil
// when it is neither.
func stampedUnder(conn net.Conn) *stampedConn {
	for {
		switch c := conn.(type) {
		case *stampedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}
