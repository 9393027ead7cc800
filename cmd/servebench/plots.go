package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/report/html"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/save"
)

// plotOptions are what vLLM's client draws of a run.
type plotOptions struct {
	Timeline bool      // the page about it
	Lengths  bool      // of its prompts and outputs, as a picture
	ITLMarks []float64 // on the page, in milliseconds
}

func (p *plotOptions) any() bool { return p.Timeline || p.Lengths }

// Extensions of what is drawn, behind the result file's name without its own.
const (
	timelineExtension = ".timeline.html"
	lengthsExtension  = ".dataset_stats.svg"
)

// draw writes what was asked for, under names that begin with stem. Lengths are
// those of completed requests: without one there is no picture.
func (r *resultOptions) draw(stem string, s *metrics.Summary) error {
	run := plot.Run{Summary: s, ITLMarks: r.Plots.ITLMarks}
	var errs []error
	if r.Plots.Timeline {
		err := r.put(stem, timelineExtension, func(w io.Writer) error {
			return html.Write(w, []html.Run{{Run: run, Version: r.VLLMVersion}})
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

// put writes a file that is a run's own: over the one before only where its name
// was asked for, and not for a file that many runs are in.
func (r *resultOptions) put(stem, extension string, write func(io.Writer) error) error {
	if r.Filename != "" && !r.Append {
		return save.Replace(stem+extension, r.mode(), write)
	}
	_, err := save.Create(stem, extension, r.mode(), write)
	return err
}

// parseThresholds reads two latencies as 25,50, in milliseconds.
func parseThresholds(text string) ([]float64, error) {
	var marks []float64
	for part := range strings.SplitSeq(text, ",") {
		ms, err := argv.ParseFloat(part)
		if err != nil {
			return nil, err
		}
		marks = append(marks, ms)
	}
	if len(marks) != 2 || !(0 < marks[0] && marks[0] < marks[1]) {
		return nil, fmt.Errorf("invalid thresholds: %s: they must be two numbers of milliseconds, the lower first, as 25,50", pyjson.Quote(text))
	}
	return marks, nil
}
