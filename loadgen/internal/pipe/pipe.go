// Package pipe is a network in memory, for tests. A net.Pipe blocks only on channels, so the real
// net/http on both ends of one runs in the fake time of a testing/synctest bubble.
package pipe

import (
	"context"
	"net"
	"sync"
)

// A Listener accepts what Dial connects. It must not leave the bubble in which it was made.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// Listen makes a Listener.
func Listen() *Listener {
	l := &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Dial connects to l, whatever the address. It fits net/http's DialContext.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial; connections go on.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr returns a placeholder.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
