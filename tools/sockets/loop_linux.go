// Package sockets serves TCP connections in one thread. The servers of tools that know the truth use it.
//
// A Loop waits with epoll for connections, for bytes and for the time at which something is due, and hands each
// to its Handler. A Receiver reads bytes with the kernel's stamp of their arrival. The package shares no code
// with the client of servebench, whose numbers these servers judge.
package sockets

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// A Handler answers what comes over the connections of a Loop. All calls come from one thread.
type Handler interface {
	Accepted(fd int) // a new connection, which does not block
	Readable(fd int) // a connection has bytes, or its end
	// Due is when something is to be written next, on the clock of the Loop; false if nothing is.
	Due() (at time.Duration, waiting bool)
	WriteDue() // writes what is due
}

// A Loop listens on a free port of 127.0.0.1.
type Loop struct {
	Port int

	began                        time.Time
	epoll, listener, timer, stop int
}

// Listen makes a Loop whose connections have that send buffer in bytes, 0 for the system's. It ends once stop, a
// file, is at its end.
func Listen(stop, sendBuffer int) (*Loop, error) {
	l := &Loop{stop: stop, began: time.Now()}
	var err error
	if l.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	// Accepted sockets inherit these.
	for _, o := range []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1},
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer},
	} {
		if o.value == 0 {
			continue
		}
		if err := unix.SetsockoptInt(l.listener, o.level, o.name, o.value); err != nil {
			return nil, fmt.Errorf("setsockopt: %w", err)
		}
	}
	if err := unix.Bind(l.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	if err := unix.Listen(l.listener, 1<<16); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	name, err := unix.Getsockname(l.listener)
	if err != nil {
		return nil, fmt.Errorf("getsockname: %w", err)
	}
	l.Port = name.(*unix.SockaddrInet4).Port
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	if l.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("timerfd_create: %w", err)
	}
	return l, errors.Join(l.watch(l.listener, 0), l.watch(l.timer, unix.EPOLLET), l.watch(stop, 0))
}

// Began is when the clock of the Loop was 0.
func (l *Loop) Began() time.Time { return l.began }

// Now is the time on the clock of the Loop, which is CLOCK_MONOTONIC.
func (l *Loop) Now() time.Duration { return time.Since(l.began) }

func (l *Loop) watch(fd int, how uint32) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | how, Fd: int32(fd)})
}

// Serve hands what comes to h until stop ends. It keeps its thread, and nothing is collected meanwhile unless h
// does so.
func (l *Loop) Serve(h Handler) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	events := make([]unix.EpollEvent, 512)
	for {
		if err := l.arm(h); err != nil {
			return err
		}
		n, err := unix.EpollWait(l.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("epoll_wait: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			switch int(e.Fd) {
			case l.stop:
				return nil
			case l.timer:
			case l.listener:
				if err := l.accept(h); err != nil {
					return err
				}
			default:
				h.Readable(int(e.Fd))
			}
		}
		h.WriteDue()
	}
}

// arm sets the timer to when the next write is due.
func (l *Loop) arm(h Handler) error {
	at, waiting := h.Due()
	if !waiting {
		return nil
	}
	wait := max(at-l.Now(), 1)
	if err := unix.TimerfdSettime(l.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(wait))}, nil); err != nil {
		return fmt.Errorf("timerfd_settime: %w", err)
	}
	return nil
}

func (l *Loop) accept(h Handler) error {
	for {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
		case unix.EAGAIN:
			return nil
		case unix.ECONNABORTED, unix.EINTR:
			continue
		default:
			return fmt.Errorf("accept4: %w", err)
		}
		h.Accepted(fd)
		if err := l.watch(fd, 0); err != nil {
			return fmt.Errorf("epoll_ctl: %w", err)
		}
	}
}
