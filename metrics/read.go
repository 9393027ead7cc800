package metrics

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrNothing says that what was read holds no run in any form known here.
var ErrNothing = fmt.Errorf("nothing to report: no record stream (lines that begin with %s), %w, and %w",
	streamMark, ErrNoResult, ErrNoBlock)

// sniffLength is how much of a source is looked at to tell what it is.
const sniffLength = 64 << 10

// Read sums up each run in r, which may be a record stream, vLLM's result JSON
// or a text with result blocks in it.
func Read(r io.Reader, ask Ask) ([]*Summary, error) {
	b := bufio.NewReaderSize(r, sniffLength)
	// A short source is no error here, and any other comes again with the next read.
	head, _ := b.Peek(sniffLength)
	read := ReadBlocks
	switch {
	case isStream(head):
		read = ReadStream
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		read = ReadResults
	}
	sums, err := read(b, ask)
	if errors.Is(err, ErrNoResult) || errors.Is(err, ErrNoBlock) || err == nil && len(sums) == 0 {
		return nil, ErrNothing
	}
	return sums, err
}

// isStream says that a line of a record stream begins somewhere in head.
func isStream(head []byte) bool {
	return bytes.HasPrefix(head, streamMark) || bytes.Contains(head, append([]byte("\n"), streamMark...))
}
