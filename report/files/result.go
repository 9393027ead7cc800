// Package files writes the files that a run leaves at its end: vLLM's result file, its second file
// for PyTorch's benchmarks, and the plots of vLLM's client.
package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/html"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/save"
)

// A Result says which files a run leaves, and where. The zero value leaves none.
type Result struct {
	// Talk gets the name of the result file once it is written; nil for nobody.
	Talk io.Writer

	// Save writes vLLM's result file.
	Save bool

	// SaveDetailed keeps the arrays in it, with texts, so other users may not read the file.
	SaveDetailed bool

	// Append appends to the file instead, as one line of JSON.
	Append bool

	// Dir is where files go, unless their names are absolute; empty means here.
	Dir string

	// Filename is the name of the result file; empty for one made of label, rate, model and time.
	Filename string

	// VLLMVersion is the release of vLLM whose format the file has.
	VLLMVersion vllm.Version

	// PyTorch has the arguments of the command line for a second file, in the format of
	// PyTorch's benchmarks; nil for none.
	PyTorch pyjson.Object

	Plots Plots
}

// Mode is the mode of new files: other users cannot read files with texts.
func (r *Result) Mode() os.FileMode {
	if r.SaveDetailed {
		return 0o600
	}
	return 0o666
}

// Path is where a result file of that name goes.
func (r *Result) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

// Names are the paths of the files that Write makes of a run with that configuration which ends at t. A
// number follows if there is such a file, and none is to be replaced.
func (r *Result) Names(c *metrics.Config, t time.Time) []string {
	return r.paths(cmp.Or(r.Filename, vllm.ResultName(c, t)))
}

// paths are the paths of the files if the result file has that name.
func (r *Result) paths(name string) []string {
	name = r.Path(name)
	stem := strings.TrimSuffix(name, ".json")
	var names []string
	for _, file := range []struct {
		asked bool
		name  string
	}{
		{r.Save || r.Append, name},
		{r.PyTorch != nil, strings.TrimSuffix(stem, filepath.Ext(name)) + pyTorchExtension},
		{r.Plots.Timeline, stem + timelineExtension},
		{r.Plots.Lengths, stem + lengthsExtension},
	} {
		if file.asked {
			names = append(names, file.name)
		}
	}
	return names
}

// fitting is a name that nobody chose, shortened in the middle if it is too long for the file system. The
// model's name is in it, and may be known too late to say so before the load.
func (r *Result) fitting(name string) string {
	const kept = 100 // of 255 bytes, at each end: the label, and the model and the time
	fits := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil || errors.Is(err, os.ErrNotExist)
	}
	if len(name) <= 2*kept || !slices.ContainsFunc(r.paths(name), func(path string) bool { return !fits(path) }) {
		return name
	}
	return strings.ToValidUTF8(name[:kept], "") + "…" + strings.ToValidUTF8(name[len(name)-kept:], "")
}

// Write writes vLLM's result file and the plots, if requested.
func (r *Result) Write(s *metrics.Summary) error {
	name := r.Path(r.name(s))
	stem := strings.TrimSuffix(name, ".json")
	var err error
	switch write := func(w io.Writer) error { return report.JSON(w, s, r.VLLMVersion) }; {
	case r.Append:
		err = save.Append(name, r.Mode(), write)
	case r.Save && r.Filename != "":
		err = save.Replace(name, r.Mode(), write)
	case r.Save:
		stem, err = save.Create(stem, ".json", r.Mode(), write)
	}
	if err == nil {
		err = r.savePyTorch(strings.TrimSuffix(stem, filepath.Ext(name)), s)
	}
	if err != nil {
		err = fmt.Errorf("writing the result file: %w", err)
	}
	if err == nil && r.Talk != nil && (r.Save || r.Append) {
		fmt.Fprintf(r.Talk, "result file: %s\n", stem+strings.TrimPrefix(name, strings.TrimSuffix(name, ".json")))
	}
	return errors.Join(err, r.draw(stem, s))
}

// savePyTorch writes the file in the format of PyTorch's benchmarks next to the result file,
// replacing an earlier one, if it was requested and there is something to write.
func (r *Result) savePyTorch(stem string, s *metrics.Summary) error {
	if r.PyTorch == nil {
		return nil
	}
	var text bytes.Buffer
	if err := report.PyTorch(&text, s, r.VLLMVersion, r.PyTorch, r.Filename); err != nil || text.Len() == 0 {
		return err
	}
	return save.Replace(stem+pyTorchExtension, r.Mode(), func(w io.Writer) error { _, err := text.WriteTo(w); return err })
}

func (r *Result) name(s *metrics.Summary) string {
	if r.Filename != "" {
		return r.Filename
	}
	return r.fitting(vllm.ResultName(&s.Header.Config, s.When.Date.Local()))
}

// Plots are the plots of vLLM's client.
type Plots struct {
	// Timeline is the page about the run.
	Timeline bool

	// Lengths is a picture of its prompts and outputs.
	Lengths bool

	// ITLMarks is on the page, in milliseconds.
	ITLMarks []float64
}

// Any reports whether anything is drawn.
func (p *Plots) Any() bool { return p.Timeline || p.Lengths }

// Extensions of the other files, which replace the extension of the result file.
const (
	pyTorchExtension  = ".pytorch.json"
	timelineExtension = ".timeline.html"
	lengthsExtension  = ".dataset_stats.svg"
)

// draw writes the requested plots, under names that begin with stem. Lengths are of completed
// requests: without one there is no picture.
func (r *Result) draw(stem string, s *metrics.Summary) error {
	run := plot.Run{Summary: s, ITLMarks: r.Plots.ITLMarks}
	var errs []error
	if r.Plots.Timeline {
		err := r.put(stem, timelineExtension, func(w io.Writer) error {
			return html.Write(w, []html.Run{{Run: run, Version: r.VLLMVersion}}, "")
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("writing the timeline: %w", err))
		}
	}
	if c := plot.Lengths(run); r.Plots.Lengths && c.Series != nil {
		err := r.put(stem, lengthsExtension, func(w io.Writer) error { return plot.SVG(w, &c) })
		if err != nil {
			errs = append(errs, fmt.Errorf("writing the lengths of prompts and outputs: %w", err))
		}
	}
	return errors.Join(errs...)
}

// put writes a file of one run. It replaces an existing file only if the user named the result file
// and no other run is in it.
func (r *Result) put(stem, extension string, write func(io.Writer) error) error {
	if r.Filename != "" && !r.Append {
		return save.Replace(stem+extension, r.Mode(), write)
	}
	_, err := save.Create(stem, extension, r.Mode(), write)
	return err
}
