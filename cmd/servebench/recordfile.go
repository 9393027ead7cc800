package main

import (
	"fmt"
	"os"
)

// A recordFile is where the record streams of a command go, or their interval log.
// What it held before is gone once the first of them begins, unless it is of an
// earlier part of the same experiment.
type recordFile struct {
	*os.File
	begun bool
}

// openRecords opens what -o names; nil for nothing.
func openRecords(o *resultOptions) (*recordFile, error) {
	if o.Stream == "-" {
		return &recordFile{os.Stdout, true}, nil
	}
	return openFile("-o/--record-to", o.Stream, o.mode())
}

// openFile opens what a flag names; nil for nothing.
func openFile(flag, name string, mode os.FileMode) (*recordFile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", flag, err)
	}
	return &recordFile{f, false}, nil
}

// regular says whether it is a plain file.
func (f *recordFile) regular() bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// begin makes room for a stream.
func (f *recordFile) begin() error {
	if f.begun || !f.regular() {
		return nil
	}
	f.begun = true
	return f.Truncate(0)
}

// Close leaves standard output open.
func (f *recordFile) Close() error {
	if f == nil || f.File == os.Stdout {
		return nil
	}
	return f.File.Close()
}
