package spans

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// A conn knows when the kernel got what was read last.
type conn struct {
	net.Conn
	raw  syscall.RawConn
	last atomic.Pointer[time.Time] // nil if the last read had no stamp
}

type connKey struct{}

// Context keeps a connection of a Listen in the context of its requests. It fits http.Server's
// ConnContext.
func Context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Arrived is when the last byte that was read from a request's connection reached this machine: for a
// request whose body has just been read, its last byte. It is zero if the kernel does not say.
func Arrived(ctx context.Context) time.Time {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		if at := c.last.Load(); at != nil {
			return *at
		}
	}
	return time.Time{}
}

// got notes the kernel's stamp of a read, of the wall clock; zero is none. A stamp in the future or far in
// the past is of a clock that was set: the read has none.
func (c *conn) got(stamp time.Time) {
	now := time.Now()
	if age := now.Sub(stamp); age >= 0 && age < time.Minute {
		at := now.Add(-age)
		c.last.Store(&at)
		return
	}
	c.last.Store(nil)
}
