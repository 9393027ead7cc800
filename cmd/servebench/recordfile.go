package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A recordFile is where the record streams of a command go, or their interval log.
// What it held before is gone once the first of them begins, unless it is of an
// earlier part of the same experiment. After an error the rest is given up, so that
// nothing follows a line that may be torn, and the load goes on.
type recordFile struct {
	*os.File
	holds  string    // what is in it, in what is said of it
	talk   io.Writer // is told of an error at once
	begun  bool
	broken error // what stopped it
}

// openRecords opens what -o names; nil for nothing.
func openRecords(o *resultOptions, talk io.Writer) (*recordFile, error) {
	f := &recordFile{holds: "the record stream", talk: talk}
	if o.Stream == "-" {
		f.File, f.begun = os.Stdout, true
		return f, nil
	}
	return f.open("-o/--record-to", o.Stream, o.mode())
}

// open opens what a flag names; nil for nothing.
func (f *recordFile) open(flag, name string, mode os.FileMode) (*recordFile, error) {
	if name == "" {
		return nil, nil
	}
	var err error
	if f.File, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, mode); err == nil {
		err = restrict(f.File, mode)
	}
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", flag, err)
	}
	return f, nil
}

// restrict takes from a file that was there what mode does not allow to others,
// where mode allows them nothing: texts go in. Pipes and devices stay as they are.
func restrict(f *os.File, mode os.FileMode) error {
	info, err := f.Stat()
	if err != nil || mode&0o077 != 0 || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return f.Chmod(mode)
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

// try writes, unless an error came before. The first is told at once, since the load
// may go on for hours, and is what Close returns.
func (f *recordFile) try(write func() error) {
	if f.broken != nil {
		return
	}
	if f.broken = write(); f.broken != nil {
		aside(f.talk, "WARNING: writing %s: %v: the rest of it is lost, the load goes on", f.holds, f.broken)
	}
}

// Close says what kept the file from being whole. It leaves standard output open.
func (f *recordFile) Close() error {
	if f == nil {
		return nil
	}
	err := f.broken
	if f.File != os.Stdout {
		if err == nil {
			err = f.settle()
		}
		err = errors.Join(err, f.File.Close())
	}
	if err != nil {
		return exitError{fmt.Errorf("writing %s: %w", f.holds, err), exitNo}
	}
	return nil
}

// settle has a plain file on its disk, and finds out whether it can be found there:
// one that was removed can be written to as before.
func (f *recordFile) settle() error {
	own, err := f.Stat()
	if err != nil || !own.Mode().IsRegular() {
		return err
	}
	named, err := os.Stat(f.Name())
	if !errors.Is(err, fs.ErrPermission) && !os.SameFile(own, named) {
		return fmt.Errorf("%s is not there any more: it or its folder was removed or moved meanwhile", f.Name())
	}
	return f.Sync()
}
