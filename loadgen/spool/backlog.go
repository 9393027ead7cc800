package spool

import (
	"bytes"
	"time"
)

const (
	// memoryBytes is how much waits in memory. The rest waits in a temporary file.
	memoryBytes = 64 << 20

	// gatherBytes is how much one call of Write takes, unless a line is longer.
	gatherBytes = 64 << 10
)

// A backlog is the lines that wait to be written, in order: in memory first, then in a temporary file and,
// if that fails, in memory again.
type backlog struct {
	gathers bool // lines come together, for one call of Write
	limit   int  // of the bytes in memory; 0 means memoryBytes

	lines []spooled // in memory, the oldest of all
	taken bool      // the first of them is being written
	size  int       // of lines, in bytes
	file  overflow  // what follows them
	tail  []spooled // what follows that, in memory because the file failed
}

// A spooled is a line, or several that gathered, and when the first was added; the zero time if that
// was long ago.
type spooled struct {
	text []byte
	at   time.Time
}

// keep puts a line after all others.
func (b *backlog) keep(line []byte) {
	limit := b.limit
	if limit == 0 {
		limit = memoryBytes
	}
	alone := b.file.empty() && b.tail == nil // no line is after those in memory
	switch {
	case alone && (b.size+len(line) <= limit || b.file.err != nil):
		b.add(line)
		b.size += len(line)
	case b.tail == nil && b.file.put(line) == nil:
	default:
		b.tail = append(b.tail, spooled{bytes.Clone(line), time.Now()})
	}
}

// add puts a line after those in memory.
func (b *backlog) add(line []byte) {
	if !b.gathers {
		b.lines = append(b.lines, spooled{bytes.Clone(line), time.Now()})
		return
	}
	if n := len(b.lines); n > 1 || n == 1 && !b.taken {
		if last := &b.lines[n-1]; len(last.text)+len(line) <= cap(last.text) {
			last.text = append(last.text, line...)
			return
		}
	}
	text := make([]byte, 0, max(gatherBytes, len(line)))
	b.lines = append(b.lines, spooled{append(text, line...), time.Now()})
}

// take is the oldest text in memory, which is being written from now on; nil if there is none.
func (b *backlog) take() []byte {
	if len(b.lines) == 0 && b.file.empty() {
		for _, line := range b.tail {
			b.size += len(line.text)
		}
		b.lines, b.tail = b.tail, nil
	}
	if len(b.lines) == 0 {
		return nil
	}
	b.taken = true
	return b.lines[0].text
}

// drop removes the oldest text, which has been written.
func (b *backlog) drop() {
	b.size -= len(b.lines[0].text)
	b.lines[0] = spooled{}
	b.lines = b.lines[1:]
}

// refill takes text of the file into memory, where nothing is left.
func (b *backlog) refill(text []byte) {
	b.file.taken(len(text))
	b.size = len(text)
	if b.gathers {
		b.lines = append(b.lines, spooled{text: text})
		return
	}
	for line := range bytes.Lines(text) {
		b.lines = append(b.lines, spooled{text: line})
	}
}

// left is how much waits.
func (b *backlog) left() size {
	n := int64(b.size) + b.file.wrote - b.file.read
	for _, line := range b.tail {
		n += int64(len(line.text))
	}
	return size(n)
}
