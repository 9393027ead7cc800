package main

import (
	"errors"
	"fmt"

	"github.com/servebench/servebench/metrics"
)

// An intervalFile is the interval log of an experiment. A nil one keeps nothing.
type intervalFile struct {
	file   *recordFile
	log    *metrics.IntervalLog
	broken error // what stopped it
}

// openIntervals opens what --hlog names; nil for nothing.
func openIntervals(o *resultOptions) (*intervalFile, error) {
	file, err := openFile("--hlog", o.Intervals, 0o666)
	if file == nil || err != nil {
		return nil, err
	}
	return &intervalFile{file: file, log: metrics.NewIntervalLog(file)}, nil
}

// begin takes up a run.
func (f *intervalFile) begin(h *metrics.Header) {
	if f == nil || f.broken != nil {
		return
	}
	if f.broken = f.file.begin(); f.broken == nil {
		f.broken = f.log.Begin(h)
	}
}

// write adds a record. After an error the rest of the log is given up and the run
// goes on: Close says why.
func (f *intervalFile) write(rec *metrics.Record) {
	if f != nil && f.broken == nil {
		f.broken = f.log.Write(rec)
	}
}

// Close writes the end of the log.
func (f *intervalFile) Close() error {
	if f == nil {
		return nil
	}
	if f.broken == nil {
		f.broken = f.log.Flush()
	}
	if err := errors.Join(f.broken, f.file.Close()); err != nil {
		return exitError{fmt.Errorf("writing the interval log: %w", err), exitNo}
	}
	return nil
}
