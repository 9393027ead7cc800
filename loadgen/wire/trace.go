package wire

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// A Trace notes what net/http does for one request, in times since epoch. Its hooks run on
// net/http's goroutines, some even after the request has ended.
type Trace struct {
	Epoch time.Time
	Watch *Watch // learns when the reply begins; may be nil
	Size  int    // of the request's body, in bytes

	// Sent, if set, is called once the request is written and cannot be sent again: over a new
	// connection of HTTP/1 when it is written, else when the reply begins. It may be called twice.
	Sent func()

	mu               sync.Mutex
	attempts         int  // connections that the request got
	handed, replied  bool // the request was to be written; the reply has begun
	wrote, firstByte time.Duration
	conn             record.Conn
	got              time.Duration // when it got the last of these connections
	over             net.Conn      // that connection
	opening          opening
}

// An opening is what is known of a connection that is being opened.
type opening struct {
	after             int       // connections that the request had got before
	dns, connect, tls time.Time // when these began
	securing          bool      // a TLS handshake has begun and not succeeded
}

// fitsSocket is the size of a body in bytes up to which a socket takes a request at once, however
// slowly the server reads: Linux gives a new TCP socket at least that much space.
const fitsSocket = 16 << 10

// Hooks must be in the request's context for t to learn about the request.
func (t *Trace) Hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(conn httptrace.GotConnInfo) {
			t.note(func() {
				t.attempts++
				t.handed, t.wrote = false, 0 // the request was written, over a connection that died
				t.got, t.over, t.conn.New = time.Since(t.Epoch), conn.Conn, !conn.Reused
			})
		},
		WroteRequest: func(wrote httptrace.WroteRequestInfo) {
			if wrote.Err == nil {
				t.note(func() {
					t.handed, t.wrote = true, time.Since(t.Epoch)
					t.sent(t.conn.New && !t.streamed() || t.replied)
				})
			}
		},
		GotFirstResponseByte: func() {
			t.note(func() {
				t.replied, t.firstByte = true, time.Since(t.Epoch)
				t.sent(t.handed)
				if t.Watch != nil {
					t.Watch.begun()
				}
				if line, ok := t.over.(*stampedConn); ok {
					line.asking.Store(false)
				}
			})
		},
		DNSStart: func(httptrace.DNSStartInfo) { t.note(func() { begin(&t.open().dns) }) },
		DNSDone: func(httptrace.DNSDoneInfo) {
			t.note(func() { t.conn.DNS = time.Since(t.opening.dns) })
		},
		ConnectStart: func(_, _ string) { t.note(func() { begin(&t.open().connect) }) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				t.note(func() { t.conn.Connect = time.Since(t.opening.connect) })
			}
		},
		TLSHandshakeStart: func() { t.note(func() { t.opening.tls, t.opening.securing = time.Now(), true }) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			t.note(func() {
				t.conn.TLS += time.Since(t.opening.tls)
				t.opening.securing = err != nil
			})
		},
	}
}

// streamed reports whether the request goes over HTTP/2, where a server may refuse it after it was written.
func (t *Trace) streamed() bool {
	conn := stampedUnder(t.over)
	return conn != nil && conn.streams
}

// sent calls Sent, if it is time.
func (t *Trace) sent(now bool) {
	if now && t.Sent != nil {
		t.Sent()
	}
}

func (t *Trace) note(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

// open is the opening of the next connection. A request that is sent again may open several, one after
// the other, and only the last one's times count.
func (t *Trace) open() *opening {
	if t.opening.after != t.attempts {
		t.opening, t.conn = opening{after: t.attempts}, record.Conn{}
	}
	return &t.opening
}

// begin keeps the first of several starts: a name may have several addresses, which are tried in
// parallel.
func begin(start *time.Time) {
	if start.IsZero() {
		*start = time.Now()
	}
}

// Into copies what is known so far into rec. Call it before the connection is released. On HTTP/1,
// the connection knows best when the request was written: net/http reports it before it flushes its
// buffer. Connecting counts only if the request got the new connection; another may have become
// free during the dial.
func (t *Trace) Into(rec *record.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rec.Attempts, rec.Times.Wrote, rec.Times.FirstByte, rec.Conn = t.attempts, t.wrote, t.firstByte, t.conn
	rec.Reconnects = max(0, t.attempts-1)
	line, ok := t.over.(*stampedConn)
	if ok && t.handed && t.replied {
		rec.Times.Wrote = max(t.wrote, line.written().Sub(t.Epoch))
	}
	rec.Times.Waited = t.waited(rec.Times.Wrote)
	if !t.conn.New {
		rec.Conn = record.Conn{}
	} else if ok && line.took > 0 {
		rec.Conn.Proxy = max(0, line.took-t.conn.DNS-t.conn.Connect-t.conn.TLS)
	}
}

// waited is how long a request that was written at wrote may have waited for others before that: for
// the server to read it, if it is large, and for a connection that another request opened. The
// latter happens on HTTP/2: the request began to open a connection, too, and then got the other.
func (t *Trace) waited(wrote time.Duration) (d time.Duration) {
	if wrote > 0 && t.Size > fitsSocket {
		d = wrote - t.got
	}
	began := t.opening.dns
	if began.IsZero() {
		began = t.opening.connect
	}
	if t.opening.after == t.attempts-1 && !t.conn.New && !began.IsZero() {
		d += t.got - began.Sub(t.Epoch)
	}
	return d
}

// Carrier is the connection that carries the request, nil if it got no connection.
func (t *Trace) Carrier() net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// reached reports whether the request got a connection, and whether the reply began.
func (t *Trace) reached() (sent, replied bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.attempts > 0, t.replied
}

// handshaking reports whether the connection got as far as its TLS handshake.
func (t *Trace) handshaking() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opening.securing
}
