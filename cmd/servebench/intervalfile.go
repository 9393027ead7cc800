package main

import (
	"io"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

// An intervalFile is the interval log of an experiment. A nil one keeps nothing.
type intervalFile struct {
	file *recordFile
	log  *stream.IntervalLog
}

// openIntervals opens what --hlog names; nil for nothing.
func openIntervals(o *resultOptions, talk io.Writer) (*intervalFile, error) {
	file := &recordFile{holds: "the interval log", talk: talk}
	file, err := file.open("--hlog", o.Intervals, 0o666)
	if file == nil || err != nil {
		return nil, err
	}
	return &intervalFile{file: file, log: stream.NewIntervalLog(file)}, nil
}

// begin takes up a run.
func (f *intervalFile) begin(h *metrics.Header) {
	if f == nil {
		return
	}
	f.file.try(f.file.begin)
	f.file.try(func() error { return f.log.Begin(h) })
}

// write adds a record.
func (f *intervalFile) write(rec *metrics.Record) {
	if f != nil {
		f.file.try(func() error { return f.log.Write(rec) })
	}
}

// behind is for how long writing has been blocked until now.
func (f *intervalFile) behind() time.Duration {
	if f == nil {
		return 0
	}
	return f.file.behind()
}

// Close writes the end of the log, waits until that is written, and says what kept it from being whole.
func (f *intervalFile) Close(wait waiting) error {
	if f == nil {
		return nil
	}
	f.file.try(f.log.Flush)
	return f.file.Close(wait)
}
