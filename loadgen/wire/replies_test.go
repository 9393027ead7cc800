package wire

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// An end is how a server ends a connection.
type end byte

const (
	hangUp  end = iota // close it
	abort              // reset it
	stay               // keep it open, and say nothing
	numEnds            // how many there are
)

// A script is what a server does on one connection.
type script struct {
	parts []string // bytes to send once a request is there, each for one Read
	end   end      // after them
	eager bool     // send after the header of the request, and never read its body
}

// A scripted is the client's end of a connection to a server that follows a script. It answers any
// later request with ok, if the script has ended with stay.
type scripted struct {
	net.Conn
	script script

	mu     sync.Mutex
	change sync.Cond
	got    []byte // of the current request
	asked  int    // requests
	hasty  bool   // reads do not wait
	closed bool
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func newScripted(s script) *scripted {
	c := &scripted{script: s}
	c.script.parts = slices.Clone(s.parts)
	c.change.L = &c.mu
	return c
}

// socketHolds is how much of a body that the server does not read a write may take, in bytes.
const socketHolds = 16 << 10

// Write takes what the server reads.
func (c *scripted) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, p...)
	head, body, _ := bytes.Cut(c.got, []byte("\r\n\r\n"))
	_, after, _ := bytes.Cut(head, []byte("Content-Length: "))
	digits, _, _ := bytes.Cut(after, []byte("\r"))
	length, _ := strconv.Atoi(string(digits))
	switch {
	case len(head) == len(c.got):
	case c.script.eager && c.asked == 0:
		if len(body) > 0 || length == 0 {
			c.ask()
		}
	case len(body) >= length && !c.script.eager:
		c.ask()
		c.got = nil
	}
	for c.script.eager && len(body) > socketHolds && !c.closed {
		c.change.Wait()
	}
	if c.closed {
		return 0, c.failure("write", net.ErrClosed)
	}
	return len(p), nil
}

// ask notes that a request has come.
func (c *scripted) ask() {
	if c.asked++; c.asked > 1 && c.script.end == stay {
		c.script.parts = append(c.script.parts, ok)
	}
	c.change.Broadcast()
}

func (c *scripted) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, c.failure("read", net.ErrClosed)
		case c.asked == 0:
		case len(c.script.parts) > 0:
			n := copy(p, c.script.parts[0])
			if c.script.parts[0] = c.script.parts[0][n:]; c.script.parts[0] == "" {
				c.script.parts = c.script.parts[1:]
			}
			return n, nil
		case c.script.end == hangUp:
			return 0, io.EOF
		case c.script.end == abort:
			return 0, c.failure("read", os.NewSyscallError("read", syscall.ECONNRESET))
		}
		if c.hasty {
			return 0, c.failure("read", os.ErrDeadlineExceeded)
		}
		c.change.Wait()
	}
}

// SetReadDeadline knows only deadlines that have passed, and none.
func (c *scripted) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hasty = !at.IsZero()
	c.change.Broadcast()
	return nil
}

func (c *scripted) failure(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Err: err}
}

func (c *scripted) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.change.Broadcast()
	return nil
}

// An outcome is what a caller sees of a request.
type outcome struct {
	Class    record.Class
	Error    string
	Attempts int

	Status   int
	Text     string // of the status line
	Header   http.Header
	Length   int64
	Encoding string // transfer encoding
	Body     string

	Again bool // the next request uses the same connection
}

// A call is a request, and how to read the reply.
type call struct {
	method string
	body   int // bytes of the request's body
	read   int // bytes for each Read
	enough int // close the body after so many bytes; 0 reads to its end
}

// tryReply makes a call to a server that follows s, and then another one.
func tryReply(t *testing.T, netHTTP bool, s script, c call) (out outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		transport := Connections{NetHTTP: netHTTP, Dial: func(context.Context, string, string) (net.Conn, error) {
			if dials++; dials == 1 {
				return newScripted(s), nil
			}
			return newScripted(script{parts: []string{ok}, end: stay}), nil
		}}.Transport()
		defer transport.CloseIdleConnections()
		out = c.make(t.Context(), transport)
		synctest.Wait()
		next := call{method: http.MethodGet, read: 100}.make(t.Context(), transport)
		if next.Body != "ok" || next.Class != record.OK {
			t.Errorf("net/http %t: the next request: %+v", netHTTP, next)
		}
		out.Again = dials == 1
		synctest.Wait()
	})
	return out
}

// make makes the call.
func (c call) make(ctx context.Context, transport *Transport) (out outcome) {
	ctx, watch := Timeouts{Total: time.Minute}.Watch(ctx)
	defer watch.Stop()
	trace := &Trace{Epoch: time.Now(), Watch: watch}
	ctx = httptrace.WithClientTrace(ctx, trace.Hooks())
	var body io.Reader
	if c.body > 0 {
		body = strings.NewReader(strings.Repeat("x", c.body))
	}
	r, err := http.NewRequestWithContext(ctx, c.method, "http://server.test/v1", body)
	if err != nil {
		return outcome{Error: err.Error()}
	}
	defer func() {
		var rec record.Record
		trace.Into(&rec)
		out.Attempts = rec.Attempts
	}()
	reply, err := transport.RoundTrip(r)
	if err != nil {
		out.Class, out.Error = record.Classify(trace.Failure(ctx, err))
		return out
	}
	watch.Headed()
	defer reply.Body.Close()
	out = outcome{Status: reply.StatusCode, Text: reply.Status, Header: reply.Header, Length: reply.ContentLength, Encoding: strings.Join(reply.TransferEncoding, ",")}
	in := BodyOf(reply, trace.Carrier(), watch)
	var all []byte
	for p := make([]byte, c.read); c.enough == 0 || len(all) < c.enough; {
		n, err := in.Read(p)
		all = append(all, p[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			out.Class, out.Error = record.Classify(CutOff(ctx, err))
			break
		}
	}
	out.Body = string(all)
	return out
}

// quiet silences what net/http logs about odd servers.
func quiet(t testing.TB) {
	before := log.Writer()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(before) })
}
