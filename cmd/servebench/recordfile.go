package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A recordFile is where the record streams of a command go, or their interval log.
// What it held before is gone once the first of them begins, unless it is of an
// earlier part of the same experiment. What is written goes through a spool, so that
// nobody waits for a disk or for a reader before Close. After an error the rest is given
// up, so that nothing follows a line that may be torn, and the load goes on.
type recordFile struct {
	*spool
	file   *os.File
	holds  string    // what is in it, in what is said of it
	talk   io.Writer // is told of an error at once
	begun  bool
	broken error // what stopped it
	told   error // what kept it out of a temporary file
}

// recordsTo is a recordFile of a file that is open.
func recordsTo(f *os.File, talk io.Writer) *recordFile {
	return &recordFile{file: f, spool: newSpool(f), holds: "the record stream", talk: talk}
}

// openRecords opens what -o names; nil for nothing.
func openRecords(o *resultOptions, talk io.Writer) (*recordFile, error) {
	if o.Stream == "-" {
		f := recordsTo(os.Stdout, talk)
		f.begun = true
		return f, nil
	}
	return (&recordFile{holds: "the record stream", talk: talk}).open("-o/--record-to", o.Stream, o.mode())
}

// open opens what a flag names; nil for nothing.
func (f *recordFile) open(flag, name string, mode os.FileMode) (*recordFile, error) {
	if name == "" {
		return nil, nil
	}
	var err error
	if f.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, mode); err == nil {
		err = restrict(f.file, mode)
	}
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", flag, err)
	}
	f.spool = newSpool(f.file)
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
	info, err := f.file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// begin makes room for a stream.
func (f *recordFile) begin() error {
	if f.begun || !f.regular() {
		return nil
	}
	f.begun = true
	return f.file.Truncate(0)
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
	if err := f.trouble(); err != nil && f.told == nil {
		f.told = err
		aside(f.talk, "WARNING: %s is not taken, and a temporary file does not take it either: %v: it waits in memory", f.holds, err)
	}
}

// Close waits until all is written, and says what kept the file from being whole. It
// leaves standard output open.
func (f *recordFile) Close(wait waiting) error {
	if f == nil {
		return nil
	}
	f.end(wait)
	err := f.broken
	if f.file != os.Stdout {
		if err == nil {
			err = f.settle()
		}
		err = errors.Join(err, f.file.Close())
	}
	if err != nil {
		code := exitNo
		if errors.Is(err, errGivenUp) {
			code = exitInterrupted
		}
		return exitError{fmt.Errorf("writing %s: %w", f.holds, err), code}
	}
	return nil
}

// behind is for how long writing has been blocked until now; never without a file.
func (f *recordFile) behind() time.Duration {
	if f == nil {
		return 0
	}
	return f.spool.behind()
}

// settle has a plain file on its disk, and finds out whether it can be found there:
// one that was removed can be written to as before.
func (f *recordFile) settle() error {
	own, err := f.file.Stat()
	if err != nil || !own.Mode().IsRegular() {
		return err
	}
	named, err := os.Stat(f.file.Name())
	if !errors.Is(err, fs.ErrPermission) && !os.SameFile(own, named) {
		return fmt.Errorf("%s is not there any more: it or its folder was removed or moved meanwhile", f.file.Name())
	}
	return f.file.Sync()
}
