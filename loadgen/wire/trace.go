package wire

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A Trace notes what net/http does for one request, in times since epoch. Its
// hooks run on net/http's goroutines, some even after the request has ended.
type Trace struct {
	Epoch time.Time
	Watch *Watch // learns when the reply begins; nil for none

	mu               sync.Mutex
	attempts         int  // connections that the request was given
	handed, replied  bool // the request to be written; the reply has begun
	wrote, firstByte time.Duration
	conn             metrics.Conn
	over             net.Conn // that the request was given last

	dnsStart, connectStart, tlsStart time.Time
	securing                         bool // a TLS handshake has begun and not succeeded
}

// Hooks is what a request's context must carry for t to learn of it.
func (t *Trace) Hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(conn httptrace.GotConnInfo) {
			t.note(func() {
				t.attempts++
				t.handed, t.wrote = false, 0 // the request was, over a connection that died
				t.over, t.conn.New = conn.Conn, !conn.Reused
			})
		},
		WroteRequest: func(wrote httptrace.WroteRequestInfo) {
			if wrote.Err == nil {
				t.note(func() { t.handed, t.wrote = true, time.Since(t.Epoch) })
			}
		},
		GotFirstResponseByte: func() {
			t.note(func() {
				t.replied, t.firstByte = true, time.Since(t.Epoch)
				if t.Watch != nil {
					t.Watch.begun()
				}
				if line, ok := t.over.(*stampedConn); ok {
					line.asking.Store(false)
				}
			})
		},
		DNSStart: func(httptrace.DNSStartInfo) { t.note(func() { begin(&t.dnsStart) }) },
		DNSDone: func(httptrace.DNSDoneInfo) {
			t.note(func() { t.conn.DNS = time.Since(t.dnsStart) })
		},
		ConnectStart: func(_, _ string) { t.note(func() { begin(&t.connectStart) }) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				t.note(func() { t.conn.Connect = time.Since(t.connectStart) })
			}
		},
		TLSHandshakeStart: func() { t.note(func() { t.tlsStart, t.securing = time.Now(), true }) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			t.note(func() {
				t.conn.TLS += time.Since(t.tlsStart)
				t.securing = err != nil
			})
		},
	}
}

func (t *Trace) note(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

// begin keeps the first of several starts: a name may have several addresses,
// and they are tried side by side.
func begin(start *time.Time) {
	if start.IsZero() {
		*start = time.Now()
	}
}

// Into puts what is known by now into rec. It must be called before the
// connection is given back. When the request was written the connection knows
// best on HTTP/1: net/http says so before it writes out its buffer. Connecting
// counts only if the request got the new connection: while it dialled, another
// may have become free.
func (t *Trace) Into(rec *metrics.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rec.Attempts, rec.Wrote, rec.FirstByte, rec.Conn = t.attempts, t.wrote, t.firstByte, t.conn
	rec.Anew = max(0, t.attempts-1)
	line, ok := t.over.(*stampedConn)
	if ok && t.handed && t.replied {
		rec.Wrote = max(t.wrote, line.written().Sub(t.Epoch))
	}
	if !t.conn.New {
		rec.Conn = metrics.Conn{}
	} else if ok && line.took > 0 {
		rec.Conn.Proxy = max(0, line.took-t.conn.DNS-t.conn.Connect-t.conn.TLS)
	}
}

// Carrier is the connection that carries the request, nil if it got none.
func (t *Trace) Carrier() net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// reached tells how far the request came: whether it got a connection and
// whether the reply began.
func (t *Trace) reached() (sent, replied bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.attempts > 0, t.replied
}

// handshaking reports whether the connection got as far as its TLS handshake.
func (t *Trace) handshaking() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.securing
}
