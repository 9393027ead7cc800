package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/export"
	"github.com/servebench/servebench/report/html"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/save"
)

// reportFiles are what a report leaves in files. A page and pictures take the place of text.
type reportFiles struct {
	page, folder string // of the page and of the pictures; "" for none
	title        string // of the page
	limits       gateFlags
	runs         []html.Run
	documents    []*published.Block // of the sweeps among the runs

	hgrmDir string
	writes  export.Files
}

// wanted reports whether the runs are shown in this form, instead of as text.
func (p *reportFiles) wanted() bool { return p.page != "" || p.folder != "" }

// written are the names of the single files.
func (p *reportFiles) written() []string {
	if p.page == "" {
		return p.writes.Names()
	}
	return append(p.writes.Names(), p.page)
}

// version is the release of vLLM whose block is shown.
func (r *reportCommand) version(s *metrics.Summary) (vllm.Version, error) {
	if r.vllm != nil {
		return *r.vllm, nil
	}
	return parseVersion(s.Source.VLLM)
}

// take keeps a run for the pictures.
func (r *reportCommand) take(s *metrics.Summary, file string) error {
	r.parts.Cut(r.talk, s)
	version, err := r.version(s)
	if err != nil {
		return err
	}
	if err := r.limits.rule(s); err != nil {
		return err
	}
	r.runs = append(r.runs, html.Run{Run: plot.Run{Summary: s, File: file}, Version: version})
	return nil
}

// takeDocuments keeps the blocks that a sweep put next to its runs, if the name is of its folder.
func (p *reportFiles) takeDocuments(name string) error {
	if info, err := os.Stat(name); !p.wanted() || err != nil || !info.IsDir() {
		return nil
	}
	blocks, err := published.ReadFolder(name)
	p.documents = append(p.documents, blocks...)
	return err
}

// draw writes the requested forms, if there is a run to show. A page named - goes to out.
func (p *reportFiles) draw(out io.Writer) error {
	if p.runs == nil {
		return nil
	}
	page := func(w io.Writer) error { return html.Write(w, p.runs, p.title, p.documents...) }
	var errs []error
	switch p.page {
	case "":
	case "-":
		errs = append(errs, page(out))
	default:
		errs = append(errs, write(p.page, page))
	}
	if p.folder != "" {
		errs = append(errs, p.drawEach())
	}
	return errors.Join(errs...)
}

// drawEach writes a file for each chart.
func (p *reportFiles) drawEach() error {
	runs := html.Plain(p.runs)
	plot.Label(runs)
	chapters := plot.Chapters(runs)
	if len(chapters) == 0 {
		return errors.New("--svg: there is no chart of these runs")
	}
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	var errs []error
	for _, chapter := range chapters {
		for i := range chapter.Charts {
			c := &chapter.Charts[i]
			picture := func(w io.Writer) error { return plot.SVG(w, c) }
			errs = append(errs, write(filepath.Join(p.folder, c.Name+".svg"), picture))
		}
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
