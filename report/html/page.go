// Package html shows runs on one page that contains its style, program and data. It
// fetches nothing when a browser opens it from a disk.
//
// Packages report and plot write what the page says; this one arranges it. All of it
// passes through html/template, so no name and no message of a server becomes markup.
package html

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/metrics/sharing"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/neighbours"
	"github.com/servebench/servebench/report/overview"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/screen"
)

//go:embed page.html page.css page.js uplot
var files embed.FS

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(
		template.FuncMap{"percent": percent, "short": overview.Verdict.Short}).ParseFS(files, "page.html"))
})

// A Run is a run on the page, with the release of vLLM whose block it shows.
type Run struct {
	plot.Run
	Version vllm.Version
}

// Write writes a page about one or more runs. For several runs it has charts that compare them. If
// title is empty, the runs provide it. Blocks of documents, which have runs next to them, get a table
// and charts. Write labels the runs.
func Write(w io.Writer, runs []Run, title string, documents ...*published.Block) error {
	p := newPage()
	p.Several = len(runs) > 1
	plain := Plain(runs)
	plot.Label(plain)
	if p.Several {
		chapters := plot.Comparison(plain)
		p.front(overview.Of(plain, chapters, title))
		if err := p.compare(runs, plain, chapters); err != nil {
			return err
		}
	}
	for i, r := range runs {
		chapters := plot.Single(plain[i], len(runs))
		if !p.Several {
			p.front(overview.Of(plain, chapters, title))
		}
		if i == 0 {
			p.Documents = documentsOf(documents)
			p.Against = p.chapters(plot.Against(documents))
		}
		s, err := p.section(plain[i], r.Version, chapters)
		if err != nil {
			return err
		}
		s.ID = fmt.Sprintf("run-%d", i+1)
		p.Runs = append(p.Runs, *s)
	}
	return pageTemplate().Execute(w, p)
}

// newPage is a page without runs.
func newPage() *page {
	return &page{Style: template.CSS(asset("page.css")), Script: template.JS(asset("page.js")),
		PlotStyle: template.CSS(asset("uplot/uPlot.min.css")), PlotScript: template.JS(asset("uplot/uPlot.iife.min.js")),
		Notice: asset("uplot/LICENSE")}
}

// Plain are the runs without their releases, for charts.
func Plain(runs []Run) []plot.Run {
	plain := make([]plot.Run, len(runs))
	for i, r := range runs {
		plain[i] = r.Run
	}
	return plain
}

// front takes in the first screen. Its chart is on the page once.
func (p *page) front(f *overview.Front) {
	p.Front = f
	if f.Chart != nil {
		p.Charts = append(p.Charts, *f.Chart)
	}
	if f.Table != nil {
		p.Table = shown(f.Table, false)
	}
	if f.Versus != nil {
		p.Versus = newVersus(f)
	}
}

// asset is an embedded file.
func asset(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the compiler embeds it
	}
	return string(text)
}

// A page is the data of the template.
type page struct {
	Front              *overview.Front
	Table              *table // on the first screen; may be nil
	Several            bool
	Style, PlotStyle   template.CSS
	Script, PlotScript template.JS
	Notice             string

	All        *table  // the runs
	Versus     *versus // nil if there are not two sides
	Groups     []fact  // texts about targets that were loaded together
	Sharing    string  // who slows whom among them; empty if that is unknown
	Documents  []document
	Against    []chapter // charts of the documents
	Comparison []chapter
	TooMany    string // why no chart overlays the runs
	Runs       []section

	Charts []plot.Chart // of the whole page; a figure has its position
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

// Headline is the figure of the first screen. Its Chart may be nil.
func (p *page) Headline() figure { return figure{0, p.Front.Chart} }

// chapters adds the charts to the page, except the one on the first screen.
func (p *page) chapters(plots []plot.Chapter) (all []chapter) {
	for _, plotted := range plots {
		c := chapter{ID: plotted.Name, Title: plotted.Title}
		for i := range plotted.Charts {
			if &plotted.Charts[i] == p.Front.Chart {
				continue
			}
			c.Figures = append(c.Figures, figure{len(p.Charts), &plotted.Charts[i]})
			p.Charts = append(p.Charts, plotted.Charts[i])
		}
		if c.Figures != nil {
			all = append(all, c)
		}
	}
	return all
}

// compare fills the sections about all runs together.
func (p *page) compare(runs []Run, plain []plot.Run, chapters []plot.Chapter) error {
	p.All = tabulate(plain)
	sums := summaries(plain)
	for i, g := range targets.Groups(sums) {
		var text strings.Builder
		if err := neighbours.Group(&text, &g); err != nil {
			return err
		}
		if text.Len() > 0 {
			p.Groups = append(p.Groups, fact{fmt.Sprintf("Blocks of all targets together, repeat %d", i+1),
				strings.TrimSpace(text.String())})
		}
	}
	var pairs strings.Builder
	if err := neighbours.PairedBySeries(&pairs, sums); err != nil {
		return err
	}
	if pairs.Len() > 0 {
		p.Groups = append(p.Groups, fact{"Slowdowns of all repeats", strings.TrimSpace(pairs.String())})
	}
	var shared strings.Builder
	if err := neighbours.Sharing(&shared, screen.Screen{Width: pageWidth}, sharing.Loads(sums, nil)); err != nil {
		return err
	}
	p.Sharing = strings.TrimSpace(shared.String())
	p.Comparison = p.chapters(chapters)
	if len(runs) > plot.MostOverlaid {
		p.TooMany = fmt.Sprintf("%d runs are too many for one chart. To overlay latencies and to see single requests, "+
			"report %d runs or fewer.",
			len(runs), plot.MostOverlaid)
	}
	return nil
}

// pageWidth is the width of texts about several runs.
const pageWidth = 120

func summaries(runs []plot.Run) (sums []*metrics.Summary) {
	for _, r := range runs {
		sums = append(sums, r.Summary)
	}
	return sums
}
