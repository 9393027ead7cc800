// Package wiretest has servers for tests: what they say is written byte for byte, and may be wrong.
package wiretest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// DialScript dials a server that reads requests and lets play answer each, until
// play says that the connection is to be closed.
func DialScript(play func(c net.Conn) (closing bool)) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for r := bufio.NewReader(server); ; {
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, req.Body); err != nil || play(server) {
					return
				}
			}
		}()
		return client, nil
	}
}

// DialRaw dials a server that answers one request with reply, byte for byte, and
// hangs up.
func DialRaw(reply []byte) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			req, err := http.ReadRequest(bufio.NewReader(server))
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			_, _ = server.Write(reply)
		}()
		return client, nil
	}
}

// Framed is body as one part of a chunked reply.
func Framed(body string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }

// Whole is a complete reply.
func Whole(head, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

// A Replying transport gives one reply, to one request.
type Replying struct{ Reply *http.Response }

// RoundTrip is an http.RoundTripper's.
func (r Replying) RoundTrip(*http.Request) (*http.Response, error) { return r.Reply, nil }

// Streaming is a transport whose reply is an event stream.
func Streaming(events string) Replying {
	return Replying{&http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(events)),
	}}
}
