package exchange_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// A lateReader is a client that reads from a server over loopback when it is let
// go, and no sooner. The test is the server.
type lateReader struct {
	t      *testing.T
	tls    bool
	server net.Conn // under TLS, if there is any
	client *net.TCPConn
	out    io.Writer // what the server says
	split  splitConn // under it
	goOn   chan struct{}
	got    chan engine.Chunk
	rec    record.Record
	tally  wire.Tally
	done   chan error
}

// newLateReader sends a request and holds the client back once it has the first
// chunk. If it is unstamped, its connection hides the socket, so that the kernel is
// not asked for stamps.
func newLateReader(t *testing.T, secure, unstamped bool) *lateReader {
	t.Helper()
	return newLateReaderOver(t, wire.Connections{Insecure: true}, secure, unstamped)
}

// newLateReaderOver is newLateReader over other connections.
func newLateReaderOver(t *testing.T, over wire.Connections, secure, unstamped bool) *lateReader {
	t.Helper()
	l := &lateReader{t: t, tls: secure, goOn: make(chan struct{}), got: make(chan engine.Chunk, 1000), done: make(chan error, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	url := "http://" + listener.Addr().String()
	if secure {
		url = "https://" + listener.Addr().String()
	}
	over.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			l.client = conn.(*net.TCPConn)
		}
		if unstamped && err == nil {
			conn = struct{ net.Conn }{conn}
		}
		return conn, err
	}
	transport := over.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: url, Transport: transport, Tally: &l.tally}
	go func() {
		var failed error
		for c, err := range o.Send(context.Background(), time.Now(), &engine.Request{Body: []byte("{}")}, &l.rec) {
			if failed = err; err == nil {
				l.got <- c
				<-l.goOn
			}
		}
		l.done <- failed
	}()
	l.accept(listener)
	t.Cleanup(func() { l.server.Close() })
	l.say(streamHead + wiretest.Framed(aChunk))
	<-l.got
	return l
}

// accept reads the request.
func (l *lateReader) accept(listener net.Listener) {
	l.t.Helper()
	conn, err := listener.Accept()
	if err != nil {
		l.t.Fatal(err)
	}
	l.split.Conn = conn
	l.server, l.out = conn, &l.split
	in := io.Reader(conn)
	if l.tls {
		secure := tls.Server(&l.split, serverTLS(l.t))
		l.out, in = secure, secure
	}
	req, err := http.ReadRequest(bufio.NewReader(in))
	if err == nil {
		_, err = io.Copy(io.Discard, req.Body)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lateReader) say(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l.out, text); err != nil {
		l.t.Fatal(err)
	}
}

// arrive says text, and waits until it lies in the client's socket. It gives
// the moments before and after.
func (l *lateReader) arrive(text string) (before, after time.Time) {
	l.t.Helper()
	lying := queued(l.t, l.client)
	before = time.Now()
	l.say(text)
	for wait := before; queued(l.t, l.client) < lying+len(text); runtime.Gosched() {
		if time.Since(wait) > time.Minute {
			l.t.Fatal("what was written does not arrive")
		}
	}
	return before, time.Now()
}

// A splitConn keeps back the end of one write.
type splitConn struct {
	net.Conn
	first int // bytes of the next write that go out; 0 means all
	rest  []byte
}

func (c *splitConn) Write(p []byte) (int, error) {
	if c.first == 0 {
		return c.Conn.Write(p)
	}
	n := c.first
	c.rest, c.first = append(c.rest, p[n:]...), 0
	_, err := c.Conn.Write(p[:n])
	return len(p), err
}

// begin says the first n bytes of what text is on the wire, and waits until they
// lie in the client's socket. It gives the rest.
func (l *lateReader) begin(text string, n int) (finish func()) {
	l.t.Helper()
	lying := queued(l.t, l.client)
	l.split.first = n
	l.say(text)
	for queued(l.t, l.client) < lying+n {
		runtime.Gosched()
	}
	return func() {
		l.t.Helper()
		if _, err := l.split.Conn.Write(l.split.rest); err != nil {
			l.t.Fatal(err)
		}
		l.split.rest = nil
	}
}

// drained waits until the client has taken all that lay in its socket.
func (l *lateReader) drained() {
	for queued(l.t, l.client) > 0 {
		runtime.Gosched()
	}
}

// next lets the client go and gives its next chunk.
func (l *lateReader) next() engine.Chunk {
	l.goOn <- struct{}{}
	return <-l.got
}

// end lets the client read to the end.
func (l *lateReader) end() {
	l.t.Helper()
	close(l.goOn)
	l.say(wiretest.Framed(doneEvent) + streamEnd)
	if err := <-l.done; err != nil {
		l.t.Fatal(err)
	}
}

// numbered is a chunk of some size.
func numbered(n, size int) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"text":"%0*d"}]}`+"\n\n", size, n)
}
