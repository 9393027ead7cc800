package spool

import (
	"bytes"
	"os"

	"github.com/servebench/servebench/report/save"
)

// overflowBatch is how much is read of an overflow at once, or else a line.
const overflowBatch = 1 << 20

// An overflow is a temporary file of lines that follow one another. Only who runs the
// program may read it, and it has no name once it is open, where the system allows that,
// so that nothing is left behind however the program ends. After an error it takes no
// more. The zero value is empty; it has no file before there is something in it.
type overflow struct {
	*os.File
	named       bool  // the system does not allow that
	read, wrote int64 // offsets: what is between them is in the file
	err         error // of put
}

func (o *overflow) empty() bool { return o.read == o.wrote }

// put writes a line to the end.
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

// lines reads whole lines from one offset on, and not past the other.
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

// taken lets go of what was read.
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
