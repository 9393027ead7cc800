package exchange_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/responses"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

const (
	// endlessFlow is what an endless server has written, in bytes, when the limit of the request passes.
	endlessFlow = 1 << 20
	// hung is how long a test waits for a request that must end at once.
	hung = time.Minute
)

// An endless server answers each request with head and then with fragment, as fast as the client
// reads, until the connection ends.
type endless struct {
	head, fragment string
	flowing        chan struct{} // closed once endlessFlow bytes are written
	sized          bool          // a limit on size ends the answer, so no other may pass before
}

func newEndless(head, fragment string) *endless {
	return &endless{head: head, fragment: fragment, flowing: make(chan struct{})}
}

// pour writes to w until it fails.
func (e *endless) pour(w io.Writer) {
	block := []byte(strings.Repeat(e.fragment, max(1, 64<<10/len(e.fragment))))
	_, err := io.WriteString(w, e.head)
	for written := 0; err == nil; written += len(block) {
		if written <= endlessFlow && written+len(block) > endlessFlow {
			close(e.flowing)
		}
		_, err = w.Write(block)
	}
}

// passing is closed when the limit of a request passes.
func (e *endless) passing() <-chan struct{} {
	if e.sized {
		return nil
	}
	return e.flowing
}

// ServeHTTP leaves the framing to net/http.
func (e *endless) ServeHTTP(w http.ResponseWriter, _ *http.Request) { e.pour(w) }

// ends reports how a request to e over transport ends whose limit passes while the answer flows.
func (e *endless) ends(t *testing.T, o *exchange.Endpoint) error {
	t.Helper()
	ctx, limit := context.WithCancelCause(t.Context())
	defer limit(nil)
	ended := make(chan error, 1)
	go func() {
		var failure error
		for _, err := range o.Send(ctx, time.Now(), &engine.Request{Body: []byte("{}")}, new(record.Record)) {
			failure = errors.Join(failure, err)
		}
		ended <- failure
	}()
	select {
	case err := <-ended: // a limit on size held first
		return err
	case <-e.passing():
	case <-time.After(hung):
		t.Fatalf("the request goes on after %v", hung)
	}
	limit(record.Failf(record.Deadline, "the limit has passed"))
	select {
	case err := <-ended:
		return err
	case <-time.After(hung):
		t.Fatalf("the request goes on %v after its limit", hung)
		return nil
	}
}

// endlessEvents are what a stream may repeat for ever without an error.
var endlessEvents = map[string]string{
	"comments":       ": ping\n\n",
	"bare comments":  ":\n",
	"blank lines":    "\n",
	"carriage":       "\r",
	"empty data":     "data:\n\n",
	"data lines":     "data: x\n",
	"unknown fields": "retry: 1\nid: 2\n\n",
	"names":          "event: ping\n\n",
	"empty objects":  "data: {}\n\n",
	"ends":           "data: [DONE]\n\n",
	"usage":          `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}` + "\n\n",
	"chunks":         `data: {"choices":[{"index":0,"delta":{"content":"a"},"text":"a"}]}` + "\n\n",
	"one line":       "data: aaaaaaaaaaaaaaaa",
	"pings":          "event: ping\ndata: {\"type\": \"ping\"}\n\n",
	"deltas":         `data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n",
	"completed":      `data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n",
	"stops":          "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"space":          " ",
}

// endlessAPIs are endpoints without URL and transport.
var endlessAPIs = map[string]func() *exchange.Endpoint{
	"completions": func() *exchange.Endpoint { return &exchange.Endpoint{Protocol: completions.Protocol} },
	"chat":        func() *exchange.Endpoint { return &exchange.Endpoint{Protocol: chat.Protocol} },
	"responses":   func() *exchange.Endpoint { return &exchange.Endpoint{Protocol: responses.Protocol} },
	"messages":    func() *exchange.Endpoint { return &exchange.Endpoint{Protocol: protocolNamed("messages")} },
	"audio":       func() *exchange.Endpoint { return &exchange.Endpoint{Protocol: protocolNamed("audio")} },
	"one JSON":    func() *exchange.Endpoint { return &exchange.Endpoint{Protocol: completions.Protocol, OneJSON: true} },
}

// endlessTransports start a server and say how to reach it.
var endlessTransports = map[string]func(t *testing.T, s *httptest.Server) (url string, c wire.Connections){
	"plain": func(_ *testing.T, s *httptest.Server) (string, wire.Connections) {
		s.Start()
		return s.URL, wire.Connections{NetHTTP: netHTTP}
	},
	"TLS": func(_ *testing.T, s *httptest.Server) (string, wire.Connections) {
		s.StartTLS()
		return s.URL, wire.Connections{NetHTTP: netHTTP, Insecure: true}
	},
	"HTTP/2": func(_ *testing.T, s *httptest.Server) (string, wire.Connections) {
		s.TLS, s.EnableHTTP2 = new(tls.Config), true
		s.StartTLS()
		return s.URL, wire.Connections{HTTP2: true, Insecure: true}
	},
	"Unix socket": func(t *testing.T, s *httptest.Server) (string, wire.Connections) {
		dir, err := os.MkdirTemp("", "s") // a socket's path is short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		listener, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		s.Listener.Close()
		s.Listener = listener
		s.Start()
		return "http://server.test", wire.Connections{NetHTTP: netHTTP, Socket: listener.Addr().String()}
	},
}

// endlessClasses are how an endless answer may fail: by the limit, by its size, by what it repeats, or
// for want of a chunk before its end.
var endlessClasses = []record.Class{record.Deadline, record.Malformed, record.InStream, record.Empty}

// A server may send what is legal faster than we read, for ever: no read then waits.
func TestAnEndlessAnswerEndsByItsLimit(t *testing.T) {
	for transport, reach := range endlessTransports {
		for api, endpoint := range endlessAPIs {
			for name, fragment := range endlessEvents {
				if (transport != "plain" || testing.Short()) && api != "chat" && name != "comments" {
					continue
				}
				t.Run(transport+"/"+api+"/"+name, func(t *testing.T) {
					e := newEndless("", fragment)
					server := httptest.NewUnstartedServer(e)
					server.Config.ErrorLog = log.New(io.Discard, "", 0)
					o := endpoint()
					url, connections := reach(t, server)
					defer server.Close()
					transport := connections.Transport()
					defer transport.CloseIdleConnections()
					o.URL, o.Transport = url, transport
					err := e.ends(t, o)
					failure, ok := errors.AsType[*record.Failure](err)
					if err != nil && (!ok || !slices.Contains(endlessClasses, failure.Class)) {
						t.Error(err)
					}
				})
			}
		}
	}
}

// endlessFraming are answers of HTTP/1.1 that do not end, and the classes of the failures.
var endlessFraming = []struct {
	name, head, fragment string
	class                record.Class
}{
	{"a header", "HTTP/1.1 200 OK\r\n", "X-More: 1\r\n", record.Malformed},
	{"one line of a header", "HTTP/1.1 200 OK\r\nX-More: ", "1", record.Malformed},
	{"interim replies", "", "HTTP/1.1 100 Continue\r\n\r\n", record.Malformed},
	{"early hints", "", "HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n", record.Malformed},
	{"a chunk's extension", chunkedHead + "1;x=", "y", record.Malformed},
	{"chunks of one line", chunkedHead, "1\r\n:\r\n", record.Deadline},
	{"chunks with extensions", chunkedHead, "1;x=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n:\r\n", record.Malformed},
	{"trailers", chunkedHead + "0\r\n", "X-More: 1\r\n", record.Malformed},
	{"a chunk", chunkedHead + "7fffffffffffffff\r\n", ": ping\n", record.Deadline},
	{"a body until the end of the connection", "HTTP/1.1 200 OK\r\n\r\n", "data:\n\n", record.Deadline},
	{"a body of another version", "HTTP/0.9 200 OK\r\n\r\n", "data:\n\n", record.Deadline},
	{"a body of a later version", "HTTP/2.0 200 OK\r\n\r\n", "data:\n\n", record.Deadline},
	{"an error's body", "HTTP/1.1 500 No\r\n\r\n", "no ", record.Status},
}

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestEndlessFramingEnds(t *testing.T) {
	for _, test := range endlessFraming {
		t.Run(test.name, func(t *testing.T) {
			e := newEndless(test.head, test.fragment)
			e.sized = test.class != record.Deadline
			address := serving(t, func(conn *net.TCPConn) { hello(conn); e.pour(conn) })
			transport := wire.Connections{NetHTTP: netHTTP}.Transport()
			defer transport.CloseIdleConnections()
			err := e.ends(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://" + address, Transport: transport})
			if failure, ok := errors.AsType[*record.Failure](err); !ok || failure.Class != test.class {
				t.Errorf("%v, not of the class %s", err, test.class)
			}
		})
	}
}

// FuzzEndlessAnswer repeats any fragment in any of the ways of endlessFraming.
func FuzzEndlessAnswer(f *testing.F) {
	for _, fragment := range endlessEvents {
		f.Add("HTTP/1.1 200 OK\r\n\r\n", fragment)
	}
	for _, test := range endlessFraming {
		f.Add(test.head, test.fragment)
	}
	f.Fuzz(func(t *testing.T, head, fragment string) {
		if fragment == "" || len(head)+len(fragment) > 4<<10 {
			return
		}
		e := newEndless(head, fragment)
		address := serving(t, func(conn *net.TCPConn) { hello(conn); e.pour(conn) })
		transport := wire.Connections{}.Transport()
		defer transport.CloseIdleConnections()
		_ = e.ends(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://" + address, Transport: transport})
	})
}
