package truth

import (
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/tools/sockets"
)

// Model is the name of the server's model.
const Model = "truth"

// A server answers requests by a script and notes what really happened. It is one thread that waits
// with epoll, and shares no code with servebench: it reads and writes HTTP itself, the kernel stamps
// its requests, and it reads the clock right before each write.
type server struct {
	Script
	notes notes

	loop              *sockets.Loop
	conns             map[int]*conn
	first, next, ends queue // streams that wait for their first chunk, another, the end
	socket            sockets.Receiver
}

// newServer listens on a free port of 127.0.0.1. The server ends when stop is at its end.
func newServer(s Script, stop int) (*server, error) {
	const sendBuffer = 1 << 20 // holds an answer that nobody reads
	loop, err := sockets.Listen(stop, sendBuffer)
	return &server{Script: s, loop: loop, conns: map[int]*conn{}}, err
}

// Due is when the next chunk is.
func (s *server) Due() (at time.Duration, waiting bool) {
	q := s.earliest()
	if q.empty() {
		return 0, false
	}
	return q.head().due, true
}

// earliest is the queue whose head is due first. In each, streams stand in the order in which they
// are due, because all wait as long.
func (s *server) earliest() *queue {
	earliest := &s.first
	for _, q := range []*queue{&s.next, &s.ends} {
		if earliest.empty() || !q.empty() && q.head().due < earliest.head().due {
			earliest = q
		}
	}
	return earliest
}

// Accepted takes a connection.
func (s *server) Accepted(fd int) {
	s.notes.Connections++
	s.conns[fd] = &conn{fd: fd}
}

// Readable reads what has come and starts an answer once a request is whole.
func (s *server) Readable(fd int) {
	c := s.conns[fd]
	if c == nil {
		return
	}
	in, stamp, err := s.socket.Receive(fd)
	if err == unix.EAGAIN || err == unix.EINTR {
		return
	}
	if err != nil {
		s.close(c)
		return
	}
	c.in, c.arrived = append(c.in, in...), stamp
	r, whole, err := parse(c.in)
	switch {
	case err != nil:
		s.notes.Failures++
		s.close(c)
	case whole && r.completion:
		s.begin(c, r)
		c.in = c.in[:0]
	case whole:
		c.in = c.in[:0]
		s.write(c, r.other())
	}
}

// begin notes a request and says when its first chunk is due.
func (s *server) begin(c *conn, r request) {
	tokens := max(r.tokens, 1)
	chunks := tokens
	if s.Chunks > 0 {
		chunks = min(chunks, s.Chunks)
	}
	c.answer = answer{left: chunks, chunks: chunks, tokens: tokens, usage: r.usage, chat: r.chat, id: r.id}
	s.notes.arrivals = append(s.notes.arrivals, c.arrived)
	if s.Keep != "" {
		c.kept = s.notes.keep(c)
	}
	if s.First > 0 {
		c.due = s.moment(s.loop.Now() + s.First)
		s.first.push(c)
		return
	}
	s.chunk(c)
}

// WriteDue writes the chunks that are due.
func (s *server) WriteDue() {
	for q := s.earliest(); !q.empty() && q.head().due <= s.loop.Now(); q = s.earliest() {
		c := q.pop()
		switch {
		case c.fd < 0: // the client left
		case q == &s.ends:
			s.write(c, c.end())
		default:
			s.chunk(c)
		}
	}
}

// chunk writes a stream's next chunk and notes when. If more are to come, the stream waits again.
func (s *server) chunk(c *conn) {
	begun, text := c.begun(), c.next()
	if c.left == 0 && s.Tail == 0 {
		text = append(text, c.end()...)
	}
	t := time.Now()
	at := t.Sub(s.loop.Began())
	if begun {
		s.notes.itls = append(s.notes.itls, at-c.wrote)
		if s.Answers {
			s.notes.gap(c.id, at-c.wrote)
		}
	} else {
		s.notes.ttfts = append(s.notes.ttfts, time.Duration(t.UnixNano()-c.arrived))
	}
	c.wrote, s.notes.last = at, t.UnixNano()
	if c.kept > 0 && c.left == 0 {
		s.notes.kept[c.kept-1].Ended = s.notes.last
	}
	switch sent := s.write(c, text); {
	case sent && c.left > 0:
		c.due = s.moment(at + s.wait())
		s.next.push(c)
	case sent && s.Tail > 0:
		c.due = at + s.Tail
		s.ends.push(c)
	}
}

// write sends all of text, which the send buffer can hold, or gives the connection up.
func (s *server) write(c *conn, text []byte) bool {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
	if errno == 0 && int(n) == len(text) {
		return true
	}
	s.close(c)
	return false
}

// close also counts an answer that did not reach its end.
func (s *server) close(c *conn) {
	if c.left > 0 {
		s.notes.Failures++
	}
	delete(s.conns, c.fd)
	unix.Close(c.fd)
	c.fd, c.left = -1, 0
}

// Serve answers requests to a free port of 127.0.0.1 by a script until stop, a file, is at its end. It writes that port
// in a line to w, and in the end the Truth as JSON.
func Serve(s Script, stop *os.File, w io.Writer) error {
	srv, err := newServer(s, int(stop.Fd()))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, srv.loop.Port); err != nil {
		return fmt.Errorf("writing the port: %w", err)
	}
	if err := srv.loop.Serve(srv); err != nil {
		return err
	}
	if s.Keep != "" {
		if err := srv.notes.keepIn(s.Keep); err != nil {
			return err
		}
	}
	return srv.notes.print(w, s.Gap)
}
