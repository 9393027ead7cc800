package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/save"
)

// openRecords opens what -o names; nil for nothing.
func openRecords(r *resultOptions, talk io.Writer) (*spool.File, error) {
	if r.Stream == "-" {
		f := spool.To(os.Stdout)
		f.Say = sayTo(talk)
		return f, nil
	}
	return openLines("-o/--record-to", r.Stream, "the record stream", r.mode(), talk)
}

// openIntervals opens what --hlog names; nil for nothing.
func openIntervals(r *resultOptions, talk io.Writer) (*spool.File, error) {
	return openLines("--hlog", r.Intervals, "the interval log", 0o666, talk)
}

// openLines opens a file of lines that a flag names; nil for nothing.
func openLines(flag, name, holds string, mode os.FileMode, talk io.Writer) (*spool.File, error) {
	f, err := spool.Open(name, mode)
	if err != nil {
		return nil, fmt.Errorf("argument %s: %w", flag, err)
	}
	if f != nil {
		f.Holds, f.Say = holds, sayTo(talk)
	}
	return f, nil
}

// sayTo says lines while there may be one of progress.
func sayTo(talk io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { aside(talk, format, args...) }
}

// checkFiles finds out before any load whether the files of a target can be written, and
// changes none.
func (o *options) checkFiles() error {
	r := &o.Results
	if !r.Save && !r.Append && !r.Plots.any() {
		return nil
	}
	return r.check(o.Report.Label)
}

// mode is that of new files: closed to others when they hold texts.
func (r *resultOptions) mode() os.FileMode {
	if r.SaveDetailed {
		return 0o600
	}
	return 0o666
}

// check makes the folder of the result file and of the plots and finds out whether
// they can be written there.
func (r *resultOptions) check(label string) error {
	if strings.ContainsRune(label, filepath.Separator) && r.Filename == "" {
		return fmt.Errorf("argument --label: %s: it begins the result file's name, so it must not hold a %c", pyjson.Quote(label), filepath.Separator)
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
func (r *resultOptions) path(name string) string {
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
	f, err := os.CreateTemp(name, save.Temporary)
	if err != nil {
		return fmt.Errorf("no result file can be made in %s: %w", name, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// save writes vLLM's result file and the plots, as far as they were asked for.
func (r *resultOptions) save(s *metrics.Summary) error {
	if r.Withheld {
		return nil
	}
	name := r.path(r.name(s))
	stem := strings.TrimSuffix(name, ".json")
	var err error
	switch write := func(w io.Writer) error { return report.JSON(w, s, r.VLLMVersion) }; {
	case r.Append:
		err = save.Append(name, r.mode(), write)
	case r.Save && r.Filename != "":
		err = save.Replace(name, r.mode(), write)
	case r.Save:
		stem, err = save.Create(stem, ".json", r.mode(), write)
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
func (r *resultOptions) savePyTorch(stem string, s *metrics.Summary) error {
	if r.PyTorch == nil {
		return nil
	}
	var text bytes.Buffer
	if err := report.PyTorch(&text, s, r.VLLMVersion, r.PyTorch, r.Filename); err != nil || text.Len() == 0 {
		return err
	}
	return save.Replace(stem+".pytorch.json", r.mode(), func(w io.Writer) error { _, err := text.WriteTo(w); return err })
}

func (r *resultOptions) name(s *metrics.Summary) string {
	if r.Filename != "" {
		return r.Filename
	}
	return vllm.ResultName(&s.Header.Config, s.Date.Local())
}
