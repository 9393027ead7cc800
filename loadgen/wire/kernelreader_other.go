//go:build !linux

package wire

import (
	"net"
	"time"
)

// A kernelReader reads with the kernel's stamps. This system has no stamps.
type kernelReader struct{ waited, stamped, follows, repeats bool }

// KernelStamps says whether this system's kernel stamps what a TCP socket receives.
func KernelStamps() bool { return false }

func askForStamps(uintptr) error { return nil }

func newKernelReader(net.Conn, func(uintptr) error) *kernelReader { return nil }

func (r *kernelReader) read([]byte) (int, error) { return 0, nil }

func (r *kernelReader) await(func() bool) bool { return false }

func (r *kernelReader) aged(_, _ time.Duration, _ bool) {}

func (r *kernelReader) share(*Tally) {}

func (r *kernelReader) stamp() int64 { return 0 }

// overtakers is the number of packets that arrived before an earlier packet. Unknown on this
// system.
func (c *stampedConn) overtakers() int64 { return 0 }

// alive reports whether the other side has not closed the connection. For a socket, that is unknown
// on this system, so only idleTimeout protects requests from closed connections.
func (c *stampedConn) alive(idle bool) bool { return c.silent(idle) }
