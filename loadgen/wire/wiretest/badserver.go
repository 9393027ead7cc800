package wiretest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// A BadServer answers its first request with Head and then with Again, again and again, and all others well.
type BadServer struct {
	Head, Again string
	Times       int          // that Again is sent; 0 without end
	Well        string       // the answer to the others
	Sent        atomic.Int64 // bytes of the first answer

	met atomic.Bool
}

// Start gives the server's URL. It ends with the test.
func (s *BadServer) Start(t testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*net.TCPConn).SetWriteBuffer(narrow)
			go s.serve(conn)
		}
	}()
	return "http://" + listener.Addr().String()
}

func (s *BadServer) serve(conn net.Conn) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		if !s.met.Swap(true) {
			s.misbehave(conn)
			return
		}
		if _, err := io.WriteString(conn, s.Well); err != nil {
			return
		}
	}
}

func (s *BadServer) misbehave(conn net.Conn) {
	n, err := io.WriteString(conn, s.Head)
	s.Sent.Add(int64(n))
	if s.Again == "" {
		return
	}
	again := []byte(strings.Repeat(s.Again, max(1, (64<<10)/len(s.Again))))
	for i := 0; err == nil && (s.Times == 0 || i < s.Times); i++ {
		n, err = conn.Write(again)
		s.Sent.Add(int64(n))
	}
}

// narrow is the size of a socket's buffer, in bytes. The kernel lets the buffer of a slow
// reader grow to 32 MiB otherwise.
const narrow = 64 << 10

// InFlight is what two sockets with narrow buffers and the reader may hold, in bytes.
const InFlight = 1 << 20

// Narrowly dials with a narrow buffer.
func Narrowly(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(narrow)
	}
	return conn, err
}

// Mallocs is how much has been allocated so far, in bytes.
func Mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
