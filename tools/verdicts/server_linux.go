package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// A server answers completions at a steady pace and notes when it did so. It is one thread that
// waits with epoll. It shares no code with servebench: it reads and writes HTTP itself, the kernel
// stamps its requests, and it reads the clock right before each write.
type server struct {
	pace  pace
	notes []note
	base  time.Time // its clock begins here

	epoll, listener, timer, stop int
	port                         int
	conns                        map[int32]*conn
	due                          dueQueue
	socket                       receiver
}

// A pace says when the tokens of an answer are due.
type pace struct {
	ttft, itl time.Duration
}

// newServer listens on a free port of 127.0.0.1. The server ends when stop is at its end.
func newServer(stop int) (*server, error) {
	s := &server{stop: stop, base: time.Now(), conns: map[int32]*conn{}}
	var err error
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	// Accepted sockets inherit these.
	for _, o := range []struct{ level, name int }{
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS}, {unix.IPPROTO_TCP, unix.TCP_NODELAY},
	} {
		if err := unix.SetsockoptInt(s.listener, o.level, o.name, 1); err != nil {
			return nil, fmt.Errorf("setsockopt: %w", err)
		}
	}
	if err := unix.Bind(s.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	if err := unix.Listen(s.listener, 1<<16); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	name, err := unix.Getsockname(s.listener)
	if err != nil {
		return nil, fmt.Errorf("getsockname: %w", err)
	}
	s.port = name.(*unix.SockaddrInet4).Port
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	if s.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("timerfd_create: %w", err)
	}
	return s, errors.Join(s.watch(s.listener, 0), s.watch(s.timer, unix.EPOLLET), s.watch(stop, 0))
}

func (s *server) watch(fd int, how uint32) error {
	return unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | how, Fd: int32(fd)})
}

// serve answers until stop ends. It keeps its thread. Nothing is collected during a load: the notes
// are, each time they have been handed out.
func (s *server) serve() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	events := make([]unix.EpollEvent, 512)
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
				if err := s.accept(); err != nil {
					return err
				}
			default:
				if c := s.conns[e.Fd]; c != nil {
					s.readable(c)
				}
			}
		}
		s.writeDue()
	}
}

// arm sets the timer to when the next token is due.
func (s *server) arm() error {
	if len(s.due) == 0 {
		return nil
	}
	wait := max(s.due[0].due-s.now(), 1)
	if err := unix.TimerfdSettime(s.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(wait))}, nil); err != nil {
		return fmt.Errorf("timerfd_settime: %w", err)
	}
	return nil
}

// now is the time on the server's clock, which is CLOCK_MONOTONIC from its start on.
func (s *server) now() time.Duration { return time.Since(s.base) }

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
		s.conns[int32(fd)] = &conn{fd: fd, index: -1}
		if err := s.watch(fd, unix.EPOLLRDHUP); err != nil {
			return fmt.Errorf("epoll_ctl: %w", err)
		}
	}
}

// readable reads what has come, and answers once a request is whole.
func (s *server) readable(c *conn) {
	for {
		in, stamp, err := s.socket.receive(c.fd)
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
			c.received = now.Sub(s.base) - time.Duration(now.UnixNano()-stamp)
		}
		c.in = append(c.in, in...)
		if len(in) < len(s.socket.in) {
			break
		}
	}
	s.answer(c)
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
	delete(s.conns, int32(c.fd))
	unix.Close(c.fd)
	c.fd, c.left = -1, 0
}
