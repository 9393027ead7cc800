package spool

import (
	"bytes"
	"os"

	"github.com/servebench/servebench/report/save"
)

// overflowBatch is how much is read of an overflow at once, unless a line is longer.
const overflowBatch = 1 << 20

// An overflow is a temporary file of consecutive lines. Only the user who runs the program may read
// it. If the system allows it, the file has no name once it is open, so nothing is left behind
// however the program ends. After an error it takes no more lines. The zero value is empty; it has
// no file until it gets a line.
type overflow struct {
	*os.File
	named       bool  // the system requires a name
	read, wrote int64 // offsets: the file holds what is between them
	err         error // of put
}

func (o *overflow) empty() bool { return o.read == o.wrote }

// put appends a line.
func (o *overflow) put(line []byte) error {
	if o.err == nil && o.File == nil {
		o.err = o.open()
	}
	if o.err == nil {
		_, o.err = o.WriteAt(line, o.wrote)
	}
	if o.err == nil {
		o.wrote += int64(len(line))
	}
	return o.err
}

func (o *overflow) open() error {
	f, err := os.CreateTemp("", save.Temporary)
	if err != nil {
		return err
	}
	o.File, o.named = f, os.Remove(f.Name()) != nil
	return nil
}

// lines reads whole lines between two offsets.
func (o *overflow) lines(from, to int64) ([]byte, error) {
	for size := int64(overflowBatch); ; size *= 2 {
		text := make([]byte, min(size, to-from))
		if _, err := o.ReadAt(text, from); err != nil {
			return nil, err
		}
		end := bytes.LastIndexByte(text, '\n') + 1
		if int64(len(text)) == to-from {
			return text, nil
		}
		if end > 0 {
			return text[:end], nil
		}
	}
}

// taken frees what was read.
func (o *overflow) taken(n int) {
	if o.read += int64(n); o.read == o.wrote && o.Truncate(0) == nil {
		o.read, o.wrote = 0, 0
	}
}

func (o *overflow) close() {
	if o.File == nil {
		return
	}
	o.File.Close()
	if o.named {
		os.Remove(o.Name())
	}
}
