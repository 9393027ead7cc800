// Package export writes runs and their requests for other programs: tables for pandas,
// DuckDB and spreadsheets, and numbers for charts over commits.
//
// There are two kinds of formats. A format of runs is written once all runs are known. A
// format of requests is written while the requests are read, so that a recording may be
// larger than memory. A column has its unit in its name, and the same name in every format.
// Files writes several files in one pass over the recordings.
package export

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/report/save"
)

// ofRuns are the formats of runs, by their names.
var ofRuns = map[string]func(io.Writer, []*runRow) error{
	"csv": runsCSV, "smaller-is-better": smallerIsBetter, "bigger-is-better": biggerIsBetter,
}

// ofRequests are the formats of requests, by their names.
var ofRequests = map[string]func(io.Writer) table{"requests-csv": newCSV, "requests-parquet": newParquet}

// A table takes requests one after the other. Close ends it, and leaves the writer open.
type table interface {
	add(q *request) error
	io.Closer
}

// formats are the names of the formats, in order.
func formats() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(ofRuns)), maps.Keys(ofRequests))))
}

// Files are files to be written. The zero value has none.
type Files struct {
	Stdout io.Writer // takes what goes to the file "-"
	// Numbers are the numbers that the tables of runs have; nil for the usual ones.
	Numbers []metrics.Number

	named  []file
	runs   []*runRow
	tables []table
	filled map[string]bool // ids of runs with requests
	broken error           // why a request could not be written
}

type file struct{ format, name string }

// Add adds a file, as FORMAT=FILE.
func (f *Files) Add(text string) error {
	format, name, _ := strings.Cut(text, "=")
	if !slices.Contains(formats(), format) || name == "" {
		return fmt.Errorf("%q: it must be FORMAT=FILE with a format of %s", text, strings.Join(formats(), ", "))
	}
	f.named = append(f.named, file{format, name})
	return nil
}

// Any says whether there is a file to write.
func (f *Files) Any() bool { return len(f.named) > 0 }

// Names are the names of the files.
func (f *Files) Names() (names []string) {
	for _, file := range f.named {
		names = append(names, file.name)
	}
	return names
}

// Printed says whether a file goes to Stdout.
func (f *Files) Printed() bool {
	return slices.ContainsFunc(f.named, func(f file) bool { return f.name == "-" })
}

// Write opens the files of requests, calls read, and writes all files. Meanwhile read calls
// Request with each request, and then Run with its run. If read fails, Write writes no file. A
// file is there whole or not at all. One of runs that cannot be written does not keep the others
// from being written.
func (f *Files) Write(read func() error) error {
	f.filled = map[string]bool{}
	var unwritten error
	err := f.writeRequests(f.named, func() error {
		if err := errors.Join(read(), f.broken); err != nil {
			return err
		}
		unwritten = f.writeRuns()
		return nil
	})
	return errors.Join(err, unwritten)
}

// writeRequests opens the files of requests, and closes them after then.
func (f *Files) writeRequests(files []file, then func() error) error {
	if len(files) == 0 {
		return then()
	}
	open := ofRequests[files[0].format]
	if open == nil {
		return f.writeRequests(files[1:], then)
	}
	var failed error // of what follows: it is no error of this file
	err := f.write(files[0], func(w io.Writer) error {
		t := open(w)
		f.tables = append(f.tables, t)
		if failed = f.writeRequests(files[1:], then); failed != nil {
			return failed
		}
		return t.Close()
	})
	if failed != nil {
		return failed
	}
	return err
}

// writeRuns writes the files of runs.
func (f *Files) writeRuns() error {
	var errs []error
	for _, file := range f.named {
		if format := ofRuns[file.format]; format != nil {
			errs = append(errs, f.write(file, func(w io.Writer) error { return format(w, f.runs) }))
		}
	}
	return errors.Join(errs...)
}

func (f *Files) write(to file, content func(io.Writer) error) error {
	if to.name == "-" {
		return content(f.Stdout)
	}
	if err := save.Replace(to.name, 0o666, content); err != nil {
		return fmt.Errorf("writing %s: %w", to.name, err)
	}
	return nil
}

// Request takes a request of a run. It keeps neither of its arguments.
func (f *Files) Request(h *metrics.Header, r *record.Record) {
	if len(f.tables) == 0 {
		return
	}
	f.filled[h.Run] = true
	row := newRequest(h, r)
	for _, t := range f.tables {
		if err := t.add(row); err != nil {
			f.broken = err
		}
	}
}

// Run takes a run. It says what the files lack of it, "" for nothing.
func (f *Files) Run(s *metrics.Summary) (lacking string) {
	if f.Any() {
		row := newRun(s)
		row.chosen = f.Numbers
		f.runs = append(f.runs, row)
	}
	if len(f.tables) > 0 && !f.filled[s.Header.Run] {
		return "single requests are not known: they are in a record stream (servebench run -o)"
	}
	return ""
}
