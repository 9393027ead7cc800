// Package html shows runs on one page that contains its style, program and data. It
// fetches nothing when a browser opens it from a disk.
//
// Packages report and plot write what the page says; this one arranges it. All of it
// passes through html/template, so no name and no message of a server becomes markup.
package html

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/plot"
)

//go:embed page.html page.css page.js uplot
var files embed.FS

var pageTemplate = template.Must(template.ParseFS(files, "page.html"))

// A Run is a run on the page, with the release of vLLM whose block it shows.
type Run struct {
	plot.Run
	Version vllm.Version
}

// Write writes a page about one or more runs. For several it has charts that compare
// them. Write labels the runs.
func Write(w io.Writer, runs []Run) error {
	p := page{Title: title(runs), Several: len(runs) > 1, Style: template.CSS(asset("page.css")), Script: template.JS(asset("page.js")),
		PlotStyle: template.CSS(asset("uplot/uPlot.min.css")), PlotScript: template.JS(asset("uplot/uPlot.iife.min.js")), Notice: asset("uplot/LICENSE")}
	plain := make([]plot.Run, len(runs))
	for i, r := range runs {
		plain[i] = r.Run
	}
	plot.Label(plain)
	if p.Several {
		if err := p.compare(runs, plain); err != nil {
			return err
		}
	}
	for i, r := range runs {
		s, err := p.section(plain[i], r.Version, len(runs))
		if err != nil {
			return err
		}
		s.ID = fmt.Sprintf("run-%d", i+1)
		p.Runs = append(p.Runs, *s)
	}
	return pageTemplate.Execute(w, &p)
}

// asset is an embedded file.
func asset(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the compiler has put it in
	}
	return string(text)
}

func title(runs []Run) string {
	model := runs[0].Header.Config.Model
	for _, r := range runs {
		if r.Header.Config.Model != model {
			model = ""
		}
	}
	if len(runs) > 1 {
		return strings.TrimSpace(fmt.Sprintf("%s: %d runs", cmp.Or(model, "Several models"), len(runs)))
	}
	return cmp.Or(model, "A run")
}

// A page is what the template shows.
type page struct {
	Title              string
	Several            bool
	Style, PlotStyle   template.CSS
	Script, PlotScript template.JS
	Notice             string

	Doubt      string // how many runs are SUSPECT or OVERLOADED
	Head       []cell // of the table of runs
	Rows       [][]cell
	Versus     *versus  // nil where there are not two sides
	Groups     []string // what targets that were loaded together did to each other
	Comparison []chapter
	TooMany    string // why nothing is laid over another
	Runs       []section

	Charts []plot.Chart // of the whole page; a figure has its position
}

// A cell of the table of runs. Target is the section that it leads to.
type cell struct {
	Text, Target string
	Number       bool
}

// A chapter is figures under a heading.
type chapter struct {
	ID, Title string
	Figures   []figure
}

// A figure is a chart's place on the page.
type figure struct {
	Index int
	Chart *plot.Chart
}

// chapters takes the charts into the page.
func (p *page) chapters(plots []plot.Chapter) (all []chapter) {
	for _, plotted := range plots {
		c := chapter{ID: plotted.Name, Title: plotted.Title}
		for i := range plotted.Charts {
			c.Figures = append(c.Figures, figure{len(p.Charts), &plotted.Charts[i]})
			p.Charts = append(p.Charts, plotted.Charts[i])
		}
		all = append(all, c)
	}
	return all
}

// compare fills the sections about all runs together.
func (p *page) compare(runs []Run, plain []plot.Run) error {
	p.tabulate(plain)
	p.Doubt = doubt(plain)
	sums := summaries(plain)
	for _, g := range compare.Groups(sums) {
		var text strings.Builder
		if err := report.Group(&text, &g, runs[0].Version); err != nil {
			return err
		}
		if text.Len() > 0 {
			p.Groups = append(p.Groups, strings.TrimSpace(text.String()))
		}
	}
	var pairs strings.Builder
	if err := report.PairedBySeries(&pairs, sums); err != nil {
		return err
	}
	if pairs.Len() > 0 {
		p.Groups = append(p.Groups, strings.TrimSpace(pairs.String()))
	}
	var err error
	if p.Versus, err = sides(plain); err != nil {
		return err
	}
	p.Comparison = p.chapters(plot.Comparison(plain))
	if len(runs) > plot.MostOverlaid {
		p.TooMany = fmt.Sprintf("%d runs are too many to lay their latencies over each other: report %d or fewer for that, and to see single requests and how a run went over time.",
			len(runs), plot.MostOverlaid)
	}
	return nil
}

func summaries(runs []plot.Run) (sums []*metrics.Summary) {
	for _, r := range runs {
		sums = append(sums, r.Summary)
	}
	return sums
}

// doubt says how many runs are SUSPECT or OVERLOADED, if any is.
func doubt(runs []plot.Run) string {
	n := map[metrics.Verdict]int{}
	for _, r := range runs {
		if r.Trust != nil {
			n[r.Trust.Verdict]++
		}
	}
	var counts []string
	for _, v := range []metrics.Verdict{metrics.Suspect, metrics.Overloaded} {
		if n[v] > 0 {
			counts = append(counts, fmt.Sprintf("%d of %d runs %s", n[v], len(runs), v))
		}
	}
	if counts == nil {
		return ""
	}
	return strings.Join(counts, ", ") + ": below, each says why."
}

// tabulate puts the runs into a table, each with a link to its section. The
// verdict follows the labels, where a reader sees it without scrolling.
func (p *page) tabulate(plain []plot.Run) {
	var table report.Table
	for _, r := range plain {
		table = append(table, report.Row{Labels: r.Labels, Summary: r.Summary})
	}
	texts, labels := table.Cells()
	for i, row := range texts {
		last := len(row) - 1
		var cells []cell
		for k, text := range slices.Insert(row[:last:last], labels, row[last]) {
			cells = append(cells, cell{Text: text, Number: k > labels})
		}
		if i == 0 {
			p.Head = cells
			continue
		}
		cells[0].Target = fmt.Sprintf("run-%d", i)
		p.Rows = append(p.Rows, cells)
	}
}
