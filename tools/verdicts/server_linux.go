package main

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/tools/sockets"
)

// A server answers completions at a steady pace and notes when it did so. It is one thread that
// waits with epoll. It shares no code with servebench: it reads and writes HTTP itself, the kernel
// stamps its requests, and it reads the clock right before each write.
type server struct {
	pace  pace
	notes []note

	loop   *sockets.Loop
	conns  map[int]*conn
	due    dueQueue
	socket sockets.Receiver
}

// A pace says when the tokens of an answer are due.
type pace struct {
	ttft, itl time.Duration
}

// newServer listens on a free port of 127.0.0.1. The server ends when stop is at its end.
func newServer(stop int) (*server, error) {
	loop, err := sockets.Listen(stop, 0)
	return &server{loop: loop, conns: map[int]*conn{}}, err
}

// Due is when the next token is.
func (s *server) Due() (at time.Duration, waiting bool) {
	if len(s.due) == 0 {
		return 0, false
	}
	return s.due[0].due, true
}

// Accepted takes a connection.
func (s *server) Accepted(fd int) { s.conns[fd] = &conn{fd: fd, index: -1} }

// Readable reads what has come, and answers once a request is whole.
func (s *server) Readable(fd int) {
	c := s.conns[fd]
	for c != nil {
		in, stamp, err := s.socket.Receive(fd)
		if err == unix.EAGAIN || err == unix.EINTR {
			break
		}
		if err != nil {
			s.close(c)
			return
		}
		if len(c.in) == 0 {
			// The stamp is of the clock of the day, which may be set. So take its age from now.
			now := time.Now()
			c.received = now.Sub(s.loop.Began()) - time.Duration(now.UnixNano()-stamp)
		}
		c.in = append(c.in, in...)
	}
	if c != nil {
		s.answer(c)
	}
}

// answer answers the request that c has received, if it is whole and none is being answered.
func (s *server) answer(c *conn) {
	for c.left == 0 && c.fd >= 0 {
		r, size := parse(c.in)
		if size == 0 {
			return
		}
		if r.tokens > 0 {
			s.begin(c, r)
		} else {
			c.write(s.other(r))
		}
		c.in = append(c.in[:0], c.in[size:]...)
	}
}

// close gives a connection up, with the answer that it waits for.
func (s *server) close(c *conn) {
	if c.index >= 0 {
		s.due.remove(c)
	}
	delete(s.conns, c.fd)
	unix.Close(c.fd)
	c.fd, c.left = -1, 0
}
