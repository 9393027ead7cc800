//go:build !linux

package sim

import "net"

func newLine(conn net.Conn) line { return &plainLine{Conn: conn} }
