package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// File sends again what WriteLine wrote, in the order and, where the lines have
// them, at the times that they say. The file is read once when it is opened, to see
// that all of it is good, and again as conversations are pulled: it may be larger
// than memory.
type File struct {
	Path string
	Num  int // conversations to send, at most; 0 and less: all
}

// Open reads the file, and gives the source and the number of conversations it
// yields.
func (d File) Open() (Source, int, error) {
	if stat, err := os.Stat(d.Path); err != nil {
		return nil, 0, err
	} else if !stat.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: is read twice, so it must be a regular file", d.Path)
	}
	n := 0
	for _, err := range d.source {
		if err != nil {
			return nil, 0, err
		}
		n++
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("%s: the file is empty", d.Path)
	}
	return d.source, n, nil
}

func (d File) source(yield func(*Conversation, error) bool) {
	f, err := os.Open(d.Path)
	if err != nil {
		yield(nil, err)
		return
	}
	defer f.Close()
	d.read(f)(yield)
}

// read gives the conversations of r.
func (d File) read(r io.Reader) Source {
	return func(yield func(*Conversation, error) bool) {
		n, timed := 0, false
		for l, err := range jsonLines[line](d.Path, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			c, err := l.value.conversation()
			if n == 0 && err == nil {
				timed = c.Due != nil
			}
			if err == nil && timed != (c.Due != nil) {
				err = errors.New(`some lines have a time "due" and some have none`)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", d.Path, l.number, err))
				return
			}
			if n++; !yield(c, nil) || n == d.Num {
				return
			}
		}
	}
}
