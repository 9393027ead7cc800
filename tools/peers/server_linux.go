package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A server answers requests by a script and notes what really happened. It is one thread that waits
// with epoll, and shares no code with servebench: it reads and writes HTTP itself, the kernel stamps
// its requests, and it reads the clock right before each write.
type server struct {
	script
	notes notes

	epoll, listener, timer, stop int
	port                         int
	base                         time.Time // its clock begins here
	conns                        map[int32]*conn
	first, next, ends            queue // streams that wait for their first chunk, another, the end
	socket                       receiver
}

// newServer listens on a free port of 127.0.0.1. The server ends when stop is at its end.
func newServer(s script, stop int) (*server, error) {
	srv := &server{script: s, stop: stop, base: time.Now(), conns: make(map[int32]*conn)}
	var err error
	if srv.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	// Accepted sockets inherit these.
	for _, o := range []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1},
		{unix.SOL_SOCKET, unix.SO_SNDBUF, 1 << 20},
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
	} {
		if err := unix.SetsockoptInt(srv.listener, o.level, o.name, o.value); err != nil {
			return nil, fmt.Errorf("setsockopt: %w", err)
		}
	}
	if err := unix.Bind(srv.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	if err := unix.Listen(srv.listener, 1<<16); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	name, err := unix.Getsockname(srv.listener)
	if err != nil {
		return nil, fmt.Errorf("getsockname: %w", err)
	}
	srv.port = name.(*unix.SockaddrInet4).Port
	if srv.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	if srv.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("timerfd_create: %w", err)
	}
	return srv, errors.Join(srv.watch(srv.listener, 0), srv.watch(srv.timer, unix.EPOLLET), srv.watch(stop, 0))
}

func (s *server) watch(fd int, how uint32) error {
	return unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | how, Fd: int32(fd)})
}

// serve answers until stop ends. It keeps its thread and leaves the heap alone.
func (s *server) serve() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	events := make([]unix.EpollEvent, 256)
	for {
		if err := s.arm(); err != nil {
			return err
		}
		n, err := unix.EpollWait(s.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("epoll_wait: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			switch int(e.Fd) {
			case s.stop:
				return nil
			case s.timer:
			case s.listener:
				err = s.accept()
			default:
				if c := s.conns[e.Fd]; c != nil {
					s.readable(c)
				}
			}
			if err != nil && err != unix.EINTR {
				return err
			}
		}
		s.writeDue()
	}
}

// arm sets the timer to when the next chunk is due.
func (s *server) arm() error {
	q := s.earliest()
	if q.empty() {
		return nil
	}
	wait := max(q.head().due-time.Since(s.base), 1)
	if err := unix.TimerfdSettime(s.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(wait))}, nil); err != nil {
		return fmt.Errorf("timerfd_settime: %w", err)
	}
	return nil
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

func (s *server) accept() error {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
		case unix.EAGAIN:
			return nil
		case unix.ECONNABORTED, unix.EINTR:
			continue
		default:
			return fmt.Errorf("accept4: %w", err)
		}
		s.notes.Connections++
		s.conns[int32(fd)] = &conn{fd: fd}
		if err := s.watch(fd, 0); err != nil {
			return fmt.Errorf("epoll_ctl: %w", err)
		}
	}
}

// readable reads what has come and starts an answer once a request is whole.
func (s *server) readable(c *conn) {
	in, stamp, err := s.socket.receive(c.fd)
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
		c.due = s.moment(time.Since(s.base) + s.First)
		s.first.push(c)
		return
	}
	s.chunk(c)
}

// writeDue writes the chunks that are due.
func (s *server) writeDue() {
	for q := s.earliest(); !q.empty() && q.head().due <= time.Since(s.base); q = s.earliest() {
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
	at := t.Sub(s.base)
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
	delete(s.conns, int32(c.fd))
	unix.Close(c.fd)
	c.fd, c.left = -1, 0
}

// serveScript is the main function of the server's process: it prints its port, and at the end of
// stdin what happened.
func serveScript(s script) error {
	srv, err := newServer(s, int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	fmt.Println(srv.port)
	if err := srv.serve(); err != nil {
		return err
	}
	if s.Keep != "" {
		if err := srv.notes.keepIn(s.Keep); err != nil {
			return err
		}
	}
	return srv.notes.print(os.Stdout, s.Gap)
}
