package metronome

import (
	"errors"
	"net"
	"os"
	"time"
)

// A line is a connection of a Metronome.
type line interface {
	net.Conn
	arrived() time.Time      // when the bytes came that Read gave last
	writeNow(p []byte) error // writes p whole and without waiting; errFull when there is no room
}

// A plainLine stamps what it has read, and its writes wait for room a little.
type plainLine struct {
	net.Conn
	at time.Time
}

func (l *plainLine) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 {
		l.at = time.Now()
	}
	return n, err
}

func (l *plainLine) arrived() time.Time { return l.at }

func (l *plainLine) writeNow(p []byte) error {
	if err := l.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	defer l.SetWriteDeadline(time.Time{})
	_, err := l.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errFull
	}
	return err
}
