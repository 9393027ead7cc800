package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
)

// Files reads files one after the other as one text, in which each begins on a new line. It unpacks
// frames of zstd, and maps lines of the text to lines of the files.
type Files struct {
	names  []string
	files  []*plainReader // of each name
	read   int            // files that were read to their end
	opened []*os.File
	starts []int // the line of the text on which each file begins, for files so far
	line   int   // current line of the text, from 1
}

// OpenFiles opens files. The caller must close them.
func OpenFiles(names ...string) (*Files, error) {
	f := &Files{names: names}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			f.Close()
			return nil, err
		}
		f.opened, f.files = append(f.opened, file), append(f.files, plain(file))
	}
	return f, nil
}

// newFile reads r as a file of that name. There is nothing to close.
func newFile(name string, r io.Reader) *Files {
	return &Files{names: []string{name}, files: []*plainReader{plain(r)}}
}

// Read reads the text.
func (f *Files) Read(p []byte) (int, error) {
	if len(f.starts) == 0 {
		f.line, f.starts = 1, []int{1}
	}
	if f.read == len(f.files) {
		return 0, io.EOF
	}
	n, err := f.files[f.read].Read(p)
	f.line += bytes.Count(p[:n], []byte("\n"))
	switch {
	case !errors.Is(err, io.EOF):
		return n, err
	case n == len(p):
		return n, nil // the end comes again, with space for a newline
	}
	if f.read++; f.read == len(f.files) {
		return n, io.EOF
	}
	p[n] = '\n'
	f.line++
	f.starts = append(f.starts, f.line)
	return n + 1, nil
}

// place names a line of the text that was read, from 1, as FILE:LINE.
func (f *Files) place(n int) string {
	file := sort.SearchInts(f.starts, n+1) - 1
	return fmt.Sprintf("%s:%d", f.names[file], n-f.starts[file]+1)
}

// packed reports whether any file has a frame of zstd.
func (f *Files) packed() bool {
	return slices.ContainsFunc(f.files, func(file *plainReader) bool { return file.packed })
}

// damaged warns of each file with a damaged frame.
func (f *Files) damaged() (warnings []string) {
	for i, file := range f.files {
		if file.damaged {
			warnings = append(warnings, f.names[i]+": its compressed data is damaged; what follows is lost up to the next frame")
		}
	}
	return warnings
}

// Close closes the files.
func (f *Files) Close() error {
	var errs []error
	for _, file := range f.opened {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
