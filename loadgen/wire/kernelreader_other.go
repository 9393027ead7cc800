//go:build !linux

package wire

import "net"

// A kernelReader reads with the kernel's stamps. There is none here.
type kernelReader struct{ waited, stamped bool }

func askForStamps(uintptr) error { return nil }

func newKernelReader(net.Conn, func(uintptr) error) *kernelReader { return nil }

func (r *kernelReader) read([]byte) (int, error) { return 0, nil }

func (r *kernelReader) stamp() int64 { return 0 }

// overtakers is how many packets have come before an earlier one. Here it cannot
// tell.
func (c *stampedConn) overtakers() int64 { return 0 }

// alive reports whether the other side has not closed the connection. Here it
// cannot tell, so that only IdleTimeout keeps requests off a closed one.
func (c *stampedConn) alive() bool { return true }
