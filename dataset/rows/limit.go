package rows

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxRow bounds a line of a dataset, and an element of an array, in bytes. A row with images or sounds
// in base64 has some megabytes. A file without line ends would fill the memory.
const MaxRow = 64 << 20

var (
	errLongLine   = fmt.Errorf("the line is longer than %d MiB", MaxRow>>20)
	errLongRecord = fmt.Errorf("a record is longer than %d MiB", MaxRow>>20)
)

// ReadLine reads a line with its end, as bufio.Reader.ReadBytes does, of at most MaxRow bytes.
func ReadLine(r *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > MaxRow {
			return nil, errLongLine
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// A Bounded reads values one after the other, and fails in a value of more than MaxRow bytes. Make one
// with Bound.
type Bounded struct {
	src  io.Reader
	left int
}

// Bound is src for the first value.
func Bound(src io.Reader) *Bounded { return &Bounded{src, MaxRow} }

// Renew lets b go on for another value.
func (b *Bounded) Renew() { b.left = MaxRow }

// Read reads from the source.
func (b *Bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRecord
	}
	n, err := b.src.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
