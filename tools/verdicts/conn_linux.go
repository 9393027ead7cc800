package main

import (
	"container/heap"
	"time"

	"golang.org/x/sys/unix"
)

// A conn is a connection, and the answer that is being written to it.
type conn struct {
	fd       int
	in       []byte
	received time.Duration // when the first byte of in arrived

	request
	note  int // of the answer, in the server's notes
	left  int // tokens to write
	due   time.Duration
	index int // in the queue; -1 if it is not there
}

// writeWait is how long a client may leave its receive buffer full, in milliseconds.
const writeWait = 5000

// write writes all of text. It says nothing of an error: the next read has it.
func (c *conn) write(text []byte) {
	for len(text) > 0 {
		n, err := unix.Write(c.fd, text)
		switch {
		case n > 0:
			text = text[n:]
		case err == unix.EAGAIN:
			full := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLOUT}}
			if ready, err := unix.Poll(full, writeWait); ready == 0 || err != nil && err != unix.EINTR {
				return
			}
		case err != unix.EINTR:
			return
		}
	}
}

// begin notes a request and sends the head of its answer. Its first token is due then.
func (s *server) begin(c *conn, r request) {
	c.request, c.left, c.note = r, r.tokens, len(s.notes)
	s.notes = append(s.notes, note{ID: r.id, Received: c.received, Writes: make([]time.Duration, 0, r.tokens)})
	c.write(streamHead)
	c.due = s.loop.Now() + s.pace.ttft
	heap.Push(&s.due, c)
}

// mostDue is how many tokens are written before requests are read again.
const mostDue = 8192

// WriteDue writes the tokens that are due.
func (s *server) WriteDue() {
	for range mostDue {
		if len(s.due) == 0 || s.due[0].due > s.loop.Now() {
			return
		}
		c := s.due[0]
		s.token(c)
		if c.left > 0 {
			c.due += s.pace.itl
			heap.Fix(&s.due, 0)
			continue
		}
		s.due.remove(c)
		s.answer(c) // which may have come meanwhile
	}
}

// token writes the next token and notes when.
func (s *server) token(c *conn) {
	c.left--
	text := tokenText[c.form][0]
	if c.left == 0 {
		text = tokenText[c.form][1]
	}
	n := &s.notes[c.note]
	n.Writes = append(n.Writes, s.loop.Now())
	c.write(text)
	if c.left == 0 {
		c.write(chunked(c.end()))
		c.write(lastChunk)
	}
}

// A dueQueue is a heap of connections by when their next token is due.
type dueQueue []*conn

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].due < q[j].due }

func (q dueQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *dueQueue) Push(c any) {
	c.(*conn).index = len(*q)
	*q = append(*q, c.(*conn))
}

func (q *dueQueue) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	c.index = -1
	*q = (*q)[:last]
	return c
}

func (q *dueQueue) remove(c *conn) { heap.Remove(q, c.index) }
