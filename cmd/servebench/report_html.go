package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/html"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/save"
)

// pictures are the forms of a report that show all runs together.
type pictures struct {
	page, folder string // where they go, "" for none
	runs         []html.Run
}

// wanted says that the runs are to be shown so, and not as text.
func (p *pictures) wanted() bool { return p.page != "" || p.folder != "" }

// version is the release of vLLM whose block is shown.
func (r *reportCommand) version(s *metrics.Summary) (vllm.Version, error) {
	if r.vllm != nil {
		return *r.vllm, nil
	}
	return parseVersion(s.VLLM)
}

// take keeps a run for the pictures.
func (r *reportCommand) take(s *metrics.Summary, file string) error {
	r.parts.Cut(r.talk, s)
	version, err := r.version(s)
	if err != nil {
		return err
	}
	r.runs = append(r.runs, html.Run{Run: plot.Run{Summary: s, File: file}, Version: version})
	return nil
}

// draw writes what was asked for, if there is a run to show.
func (p *pictures) draw() error {
	var errs []error
	if p.page != "" && p.runs != nil {
		errs = append(errs, write(p.page, func(w io.Writer) error { return html.Write(w, p.runs) }))
	}
	if p.folder != "" && p.runs != nil {
		errs = append(errs, p.drawEach())
	}
	return errors.Join(errs...)
}

// drawEach writes a file for each chart.
func (p *pictures) drawEach() error {
	var runs []plot.Run
	for _, r := range p.runs {
		runs = append(runs, r.Run)
	}
	charts := plot.Charts(runs)
	if len(charts) == 0 {
		return errors.New("--svg: there is nothing to draw: charts need single requests or several runs")
	}
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	var errs []error
	for _, c := range charts {
		errs = append(errs, write(filepath.Join(p.folder, c.Name+".svg"), func(w io.Writer) error { return plot.SVG(w, &c) }))
	}
	return errors.Join(errs...)
}

// write makes a file whole or not at all.
func write(name string, content func(io.Writer) error) error {
	if err := save.Replace(name, 0o666, content); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
