package exchange_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/openai"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// Frames of HTTP/2 (RFC 9113, section 6).
const (
	dataFrame     = 0
	headersFrame  = 1
	resetFrame    = 3
	settingsFrame = 4
	goAwayFrame   = 7
)

// frame is a frame of HTTP/2.
func frame(kind, flags byte, stream uint32, payload ...byte) string {
	head := []byte{0, 0, byte(len(payload)), kind, flags}
	return string(append(binary.BigEndian.AppendUint32(head, stream), payload...))
}

// http2Server answers each request that has come whole with frames for its stream, and counts requests.
// It hangs up after frames that end a connection.
func http2Server(conn net.Conn, requests *int, answer func(stream uint32) (frames string, hangUp bool)) {
	say := make(chan string, 9) // a pipe holds nothing: who writes must not keep reading from going on
	go func() {
		defer conn.Close()
		for text := range say {
			_, _ = io.WriteString(conn, text)
		}
	}()
	r := bufio.NewReader(conn)
	_, _ = r.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	say <- frame(settingsFrame, 0, 0)
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			break
		}
		n := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		_, _ = r.Discard(n)
		kind, flags := head[3], head[4]
		if kind == settingsFrame && flags == 0 {
			say <- frame(settingsFrame, 1, 0)
		}
		if kind == headersFrame {
			*requests++
		}
		if ended := flags&1 != 0; ended && (kind == headersFrame || kind == dataFrame) {
			frames, hangUp := answer(binary.BigEndian.Uint32(head[5:]))
			say <- frames
			if hangUp {
				break
			}
		}
	}
	close(say)
	_, _ = io.Copy(io.Discard, r)
}

// Nothing is sent again that a server may have looked at.
func TestARequestIsSentOnceOverHTTP2(t *testing.T) {
	begun := frame(headersFrame, 4, 1, 0x88) + frame(dataFrame, 0, 1, []byte(aChunk)...) // status 200
	for _, test := range []struct {
		name, answer string
		hangUp       bool
		class        record.Class
		message      string
	}{
		{"a wrong protocol", frame(resetFrame, 0, 1, 0, 0, 0, 1), false, record.Reset,
			"the connection was reset before the reply: stream error: stream ID 1; PROTOCOL_ERROR; received from peer"},
		{"reset", frame(resetFrame, 0, 1, 0, 0, 0, 2), false, record.Reset,
			"the connection was reset before the reply: stream error: stream ID 1; INTERNAL_ERROR; received from peer"},
		{"gone, with the request", frame(goAwayFrame, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0), true, record.Truncated,
			"the connection was cut before the reply: http2: server sent GOAWAY and closed the connection"},
		{"reset by the way", begun + frame(resetFrame, 0, 1, 0, 0, 0, 2), false, record.Reset,
			"the connection was reset in the middle of the answer: stream error: stream ID 1; INTERNAL_ERROR; received from peer"},
		{"going away by the way", begun + frame(goAwayFrame, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0), true, record.Truncated,
			"the connection was cut in the middle of the answer: http2: server sent GOAWAY and closed the connection"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, dials := 0, 0
				transport := wire.Connections{NetHTTP: netHTTP, HTTP2: true, Dial: func(context.Context, string, string) (net.Conn, error) {
					dials++
					client, server := net.Pipe()
					go http2Server(server, &requests, func(uint32) (string, bool) { return test.answer, test.hangUp })
					return client, nil
				}}.Transport()
				got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Timeouts: wire.Timeouts{Total: time.Minute}})
				transport.CloseIdleConnections()
				time.Sleep(week)
				if got.Class != test.class || !strings.HasPrefix(got.Error, test.message) {
					t.Errorf("%s, %q; want %s, %q", got.Class, got.Error, test.class, test.message)
				}
				if requests != 1 || dials != 1 || rec.Attempts != 1 {
					t.Errorf("%d requests over %d connections, %d attempts", requests, dials, rec.Attempts)
				}
			})
		})
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	var followed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		followed.Add(1)
		streaming(w, r)
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(other.URL+"/v1", status))
		transport := wire.Connections{NetHTTP: netHTTP}.Transport()
		got, rec := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport})
		if got.Class != record.Status || rec.Result.Status != status || !strings.Contains(got.Error, " (Location: "+other.URL+"/v1; redirects are not followed)") {
			t.Errorf("%d: %+v", status, got)
		}
		_, err := (&openai.Server{URL: server.URL, Transport: transport}).Models(t.Context())
		if err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
			t.Errorf("%d: a call gives %v", status, err)
		}
		transport.CloseIdleConnections()
		server.Close()
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("the other server had %d requests", n)
	}
}
