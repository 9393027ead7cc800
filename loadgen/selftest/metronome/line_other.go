//go:build !linux

package metronome

import "net"

func newLine(conn net.Conn) line { return &plainLine{Conn: conn} }
