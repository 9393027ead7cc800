//go:build vllm

package vllm_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Scripts are slowed down, so that the 1/64 s that is the shortest step in them
// becomes half a second, and a client that a busy machine keeps waiting still reads
// a piece long before the next. Pieces of one instant are written a moment apart,
// so that each is a read of its own. A time that is off by the slack belongs to no
// piece.
const (
	stretch = 32
	moment  = 50 * time.Millisecond
	slack   = time.Second
)

// A script is the answer to one request. Times are in seconds from its arrival,
// before they are stretched.
type script struct {
	Status        *int // nil closes the connection without an answer
	Reason        string
	Headers       map[string]string
	ContentLength *int     `json:"content_length"`
	HeadT         *float64 `json:"head_t"` // when the header goes; nil is with the first read
	Reads         []piece
	End           struct {
		Kind string // eof, or cut: the connection closes within the body
		T    *float64
	}
}

// A piece is one write: text, or base64 where a character is cut in two.
type piece struct {
	T      float64
	Data   string
	Base64 []byte
}

// play serves scripts over HTTP/1.1, byte for byte, to the requests whose ids end
// in their indices. Anything else gets 404.
func play(t *testing.T, scripts []script) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	t.Cleanup(func() { listener.Close(); open.Wait() })
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				serveScripts(conn, scripts) // until the client leaves, which it may when it has seen enough
			})
		}
	})
	return "http://" + listener.Addr().String()
}

func serveScripts(conn net.Conn, scripts []script) error {
	for in := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(in)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return err
		}
		id := req.Header.Get("X-Request-Id")
		index, err := strconv.Atoi(strings.TrimPrefix(id, idPrefix))
		if id == "" || err != nil || index >= len(scripts) {
			if _, err := io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"); err != nil {
				return err
			}
			continue
		}
		if kept, err := scripts[index].write(conn, time.Now()); err != nil || !kept {
			return err
		}
	}
}

// write plays a script that began at a time, and says whether the connection is
// kept.
func (s *script) write(conn net.Conn, began time.Time) (kept bool, err error) {
	until := func(t float64) {
		time.Sleep(time.Until(began.Add(time.Duration(t * stretch * float64(time.Second)))))
	}
	head := s.head()
	if s.HeadT != nil {
		until(*s.HeadT)
		if _, err := io.WriteString(conn, head); err != nil {
			return false, err
		}
		head = ""
	}
	for i, read := range s.Reads {
		if until(read.T); i > 0 && read.T == s.Reads[i-1].T {
			time.Sleep(moment)
		}
		data := read.Data + string(read.Base64)
		if s.ContentLength == nil {
			data = fmt.Sprintf("%x\r\n%s\r\n", len(data), data)
		}
		if _, err := io.WriteString(conn, head+data); err != nil {
			return false, err
		}
		head = ""
	}
	if s.End.T != nil {
		until(*s.End.T)
	}
	if s.End.Kind == "cut" {
		_, err = io.WriteString(conn, head)
		return false, err
	}
	if s.ContentLength == nil {
		head += "0\r\n\r\n"
	}
	_, err = io.WriteString(conn, head)
	return true, err
}

// next gives the instant of the script that a client's time in seconds is next to,
// and how far it is from that. The start is one, too.
func (s *script) next(seconds float64) (instant float64, off time.Duration) {
	off = time.Duration(seconds * float64(time.Second))
	for _, read := range s.Reads {
		if distance := time.Duration((seconds - read.T*stretch) * float64(time.Second)).Abs(); distance < off {
			instant, off = read.T, distance
		}
	}
	return instant, off
}

// head is the status line and the header.
func (s *script) head() string {
	if s.Status == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", *s.Status, s.Reason)
	if s.Headers["Content-Type"] == "" {
		b.WriteString("Content-Type: text/event-stream; charset=utf-8\r\n")
	}
	for name, value := range s.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	if s.ContentLength != nil {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", *s.ContentLength)
	} else {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("\r\n")
	return b.String()
}
