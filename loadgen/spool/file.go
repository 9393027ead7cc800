// Package spool writes lines to a file during a load, without ever making the load wait for a disk
// or a reader.
//
// Lines that cannot be written at once wait in memory and then in a temporary file. After an error,
// the rest is dropped, so that nothing follows a line that may be torn. The load goes on, and Close
// reports what was lost.
package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/servebench/servebench/report/save"
)

// A File takes the lines of one or several streams. What it held before is removed when the first
// of them begins. A nil File takes nothing. Only one goroutine may use it.
type File struct {
	// Holds names its contents in the messages of Say and Close; empty means the record stream.
	Holds string

	// Say, if set, receives an error at once, and what Close waits for.
	Say func(format string, args ...any)

	*spool
	file   *os.File // nil if it is not a file
	ours   bool     // Open opened it
	begun  bool
	broken error // what stopped it
	told   error // what kept it out of a temporary file
}

// To is a File that writes to w, which stays open. If w is a plain file, lines gather for 40 ms, and
// what it held before stays. For another, each line is one call of Write.
func To(w io.Writer) *File {
	file, _ := w.(*os.File)
	f := &File{file: file, spool: newSpool(w), begun: true}
	f.backlog.gathers = f.Regular()
	return f
}

// Open opens a file, or creates it with the mode. Lines gather as To says. An empty name returns nil.
func Open(name string, mode os.FileMode) (*File, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	if err := save.Restrict(file, mode); err != nil {
		return nil, err
	}
	f := &File{file: file, ours: true, spool: newSpool(file)}
	f.backlog.gathers = f.Regular()
	return f, nil
}

// Compress lets f write zstd, before its first line. Lines gather for 40 ms, and whatever ends the
// program, what was written until then can be read.
func (f *File) Compress() { f.to, f.backlog.gathers = newPacker(f.to), true }

// Regular reports whether it is a plain file.
func (f *File) Regular() bool {
	if f.file == nil {
		return false
	}
	info, err := f.file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// Ours reports whether Open opened it. Any other may be standard output, into which other programs write, too.
func (f *File) Ours() bool { return f.ours }

// Begin makes room for a stream.
func (f *File) Begin() error {
	if f.begun || !f.Regular() {
		return nil
	}
	f.begun = true
	return f.file.Truncate(0)
}

// Try writes, unless there was an error before. It reports the first error at once, since the load
// may go on for hours; Close returns it.
func (f *File) Try(write func() error) {
	if f.broken != nil {
		return
	}
	if f.broken = write(); f.broken != nil {
		f.say("WARNING: writing %s: %v: the rest of it is lost, the load goes on", f.holds(), f.broken)
	}
	if err := f.trouble(); err != nil && f.told == nil {
		f.told = err
		f.say("WARNING: %s cannot be written now, and a temporary file cannot hold it: %v: it waits in memory", f.holds(),
			err)
	}
}

func (f *File) say(format string, args ...any) {
	if f.Say != nil {
		f.Say(format, args...)
	}
}

func (f *File) holds() string {
	if f.Holds == "" {
		return "the record stream"
	}
	return f.Holds
}

// Close waits until everything is written, and says why the file is not whole: with ErrInterrupted
// after an interrupt. It closes a file that Open opened.
func (f *File) Close(wait Waiting) error {
	if f == nil {
		return nil
	}
	f.End(wait)
	err := f.broken
	if f.ours {
		if err == nil {
			err = f.settle()
		}
		err = errors.Join(err, f.file.Close())
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.holds(), err)
	}
	return nil
}

// Broken is the error that ended the writing, or nil.
func (f *File) Broken() error { return f.broken }

// Behind is how long writing has been blocked until now; 0 without a file.
func (f *File) Behind() time.Duration {
	if f == nil {
		return 0
	}
	return f.behind()
}

// settle syncs a plain file, and checks that it is still there: writing to a removed file gives no
// error.
func (f *File) settle() error {
	own, err := f.file.Stat()
	if err != nil || !own.Mode().IsRegular() {
		return err
	}
	named, err := os.Stat(f.file.Name())
	if !errors.Is(err, fs.ErrPermission) && !os.SameFile(own, named) {
		return fmt.Errorf("%s no longer exists: it or its folder was removed or moved during the run", f.file.Name())
	}
	return f.file.Sync()
}
