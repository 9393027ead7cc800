package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
)

// results are the files that a run leaves: the record stream, written as
// requests end, and vLLM's result file, written at the end.
type results struct {
	resultOptions
	stream *metrics.StreamWriter // nil without -o
	file   *os.File              // what stream writes to
	broken error                 // what stopped the stream
}

// openResults finds out before any load whether the files can be written.
func openResults(o resultOptions) (*results, error) {
	r := &results{resultOptions: o}
	if o.Save || o.Append {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	switch o.Stream {
	case "":
		return r, nil
	case "-":
		r.file = os.Stdout
	default:
		f, err := os.OpenFile(o.Stream, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("argument -o/--record-to: %w", err)
		}
		r.file = f
	}
	r.stream = metrics.NewStreamWriter(r.file)
	r.stream.NoChunks = o.Record == "requests"
	if info, err := r.file.Stat(); err == nil && !info.Mode().IsRegular() {
		r.stream.MaxLine = metrics.PipeLine
	}
	return r, nil
}

// check makes the folder of the result file and finds out whether a file can be
// made in it, leaving no trace.
func (r *results) check() error {
	name := filepath.Join(r.Dir, r.Filename)
	if info, err := os.Stat(name); r.Filename != "" && err == nil && info.IsDir() {
		return fmt.Errorf("argument --result-filename: %s is a folder", name)
	}
	folder := filepath.Dir(filepath.Join(r.Dir, cmp.Or(r.Filename, "x")))
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("argument --result-dir: %w", err)
	}
	f, err := os.CreateTemp(folder, ".servebench-*")
	if err != nil {
		return fmt.Errorf("argument --result-dir: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// begin opens the stream.
func (r *results) begin(h *metrics.Header) {
	if r.stream != nil {
		r.broken = r.stream.Begin(h)
	}
}

// write adds a record to the stream. After an error the rest of the stream is
// given up and the run goes on: close says why.
func (r *results) write(rec *metrics.Record) {
	if r.stream != nil && r.broken == nil {
		r.broken = r.stream.Write(rec)
	}
}

// close ends the stream and writes the result file. Both are tried.
func (r *results) close(s *metrics.Summary) error {
	return errors.Join(r.closeStream(s), r.save(s))
}

func (r *results) closeStream(s *metrics.Summary) error {
	if r.stream == nil {
		return nil
	}
	if r.broken == nil {
		r.broken = r.stream.End(s)
	}
	if r.file != os.Stdout {
		r.broken = errors.Join(r.broken, r.file.Close())
	}
	if r.broken != nil {
		return fmt.Errorf("writing the record stream: %w", r.broken)
	}
	return nil
}

// save writes vLLM's result file, if one was asked for.
func (r *results) save(s *metrics.Summary) error {
	if !r.Save && !r.Append {
		return nil
	}
	name := r.Filename
	if name == "" {
		name = report.ResultName(&s.Header.Config, s.Date.In(time.Local))
	}
	name = filepath.Join(r.Dir, name)
	var err error
	if r.Append {
		err = appendResult(name, s)
	} else {
		err = writeWhole(name, func(w io.Writer) error { return report.JSON(w, s) })
	}
	if err != nil {
		return fmt.Errorf("writing the result file: %w", err)
	}
	return nil
}

// appendResult adds s to a file of JSON lines. As in vLLM, the line end comes
// before the object, when there is one already.
func appendResult(name string, s *metrics.Summary) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 {
		if _, err := f.WriteString("\n"); err != nil {
			return err
		}
	}
	return errors.Join(report.JSON(f, s), f.Sync())
}

// writeWhole writes a file under a temporary name and then renames it, so that
// it is there whole or not at all.
func writeWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".servebench-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
