package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
)

// results are the files that a run leaves: the record stream, written as
// requests end, and vLLM's result file and plots, written at the end.
type results struct {
	resultOptions
	mode   os.FileMode    // of new files: closed to others when they hold texts
	file   *recordFile    // what stream writes to
	stream *stream.Writer // nil without -o
	log    *intervalFile  // of the whole experiment; nil for none
	before time.Duration  // for which writing was blocked before the run
}

// openResults finds out before any load whether the files can be written, and
// changes none. The record file is nil for no stream, and stays the caller's; so
// does the log.
func openResults(o resultOptions, file *recordFile, log *intervalFile) (*results, error) {
	r := &results{resultOptions: o, mode: o.mode(), file: file, log: log}
	if o.Save || o.Append || o.Plots.any() {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	if file != nil {
		r.stream = stream.NewWriter(file)
		r.stream.NoChunks = o.Record == "requests"
		if !file.regular() {
			r.stream.MaxLine = stream.PipeLine
		}
	}
	return r, nil
}

// mode is that of new files: closed to others when they hold texts.
func (o *resultOptions) mode() os.FileMode {
	if o.SaveDetailed {
		return 0o600
	}
	return 0o666
}

// check makes the folder of the result file and of the plots and finds out whether
// they can be written there.
func (r *results) check() error {
	if strings.ContainsRune(r.Label, filepath.Separator) && r.Filename == "" {
		return fmt.Errorf("argument --label: %s: it begins the result file's name, so it must not hold a %c", pyjson.Quote(r.Label), filepath.Separator)
	}
	if r.Filename == "" {
		return checkFolder(r.Dir)
	}
	name := r.path(r.Filename)
	if !r.Save && !r.Append {
		return checkFolder(filepath.Dir(name))
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("argument --result-filename: %s is a folder", name)
	case sameFile(name, r.Stream):
		return fmt.Errorf("argument --result-filename: %s is where -o/--record-to writes", name)
	case err == nil && (r.Append || !info.Mode().IsRegular()):
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("argument --result-filename: %w", err)
		}
		return f.Close()
	}
	return checkFolder(filepath.Dir(name))
}

// path is where a result file of that name goes.
func (r *results) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// checkFolder makes a folder and finds out whether a file can be made in it.
func checkFolder(name string) error {
	if name == "" {
		name = "."
	}
	err := os.MkdirAll(name, 0o777)
	if err != nil {
		return fmt.Errorf("argument --result-dir: %w", err)
	}
	f, err := os.CreateTemp(name, temporary)
	if err != nil {
		return fmt.Errorf("no result file can be made in %s: %w", name, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// temporary is the pattern of names of files that are not whole yet.
const temporary = ".servebench-*"

// begin opens a run's stream.
func (r *results) begin(h *metrics.Header) {
	r.before = r.behind()
	r.log.begin(h)
	if r.stream == nil {
		return
	}
	r.file.try(r.file.begin)
	r.file.try(func() error { return r.stream.Begin(h) })
}

// behind is for how long writing of the stream, or of the log, has been blocked.
func (r *results) behind() time.Duration { return max(r.file.behind(), r.log.behind()) }

// blocked is for how long it was in the run.
func (r *results) blocked() time.Duration { return r.behind() - r.before }

// compact is the Record of a stream that keeps no single requests.
const compact = "compact"

// keeps says whether the stream takes single requests and samples.
func (r *results) keeps() bool { return r.stream != nil && r.Record != compact }

// write adds a record to the stream.
func (r *results) write(rec *metrics.Record) {
	if r.keeps() {
		r.file.try(func() error { return r.stream.Write(rec) })
	}
}

// sample adds a sample to the stream, as write does a record.
func (r *results) sample(s *metrics.Sample) {
	if r.keeps() {
		r.file.try(func() error { return r.stream.Sample(s) })
	}
}

// close ends the stream and writes the result file and the plots. The error is
// theirs: the stream's is its file's.
func (r *results) close(s *metrics.Summary) error {
	if r.stream != nil {
		r.file.try(func() error { return r.stream.End(s) })
	}
	if r.Withheld {
		return nil
	}
	return r.save(s)
}

// save writes vLLM's result file and the plots, as far as they were asked for.
func (r *results) save(s *metrics.Summary) error {
	name := r.path(r.name(s))
	stem := strings.TrimSuffix(name, ".json")
	var err error
	switch write := func(w io.Writer) error { return report.JSON(w, s, r.VLLMVersion) }; {
	case r.Append:
		err = r.append(name, write)
	case r.Save && r.Filename != "":
		err = r.replace(name, write)
	case r.Save:
		stem, err = r.create(stem, ".json", write)
	}
	if err == nil {
		err = r.savePyTorch(strings.TrimSuffix(stem, filepath.Ext(name)), s)
	}
	if err != nil {
		err = fmt.Errorf("writing the result file: %w", err)
	}
	return errors.Join(err, r.draw(stem, s))
}

// savePyTorch writes the file in the format of PyTorch's benchmarks beside the result
// file, in the place of an earlier one, if it was asked for and there is something to
// write.
func (r *results) savePyTorch(stem string, s *metrics.Summary) error {
	if r.PyTorch == nil {
		return nil
	}
	var text bytes.Buffer
	if err := report.PyTorch(&text, s, r.VLLMVersion, r.PyTorch, r.Filename); err != nil || text.Len() == 0 {
		return err
	}
	return r.replace(stem+".pytorch.json", func(w io.Writer) error { _, err := text.WriteTo(w); return err })
}

func (r *results) name(s *metrics.Summary) string {
	if r.Filename != "" {
		return r.Filename
	}
	return vllm.ResultName(&s.Header.Config, s.Date.Local())
}
