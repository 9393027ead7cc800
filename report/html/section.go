package html

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/plot"
)

// mostErrors is how many different messages a section lists.
const mostErrors = 10

// A section is one run on a page.
type section struct {
	plot.Run
	ID         string
	Facts      []fact
	Reasons    string // of the verdict
	Block      string
	Truth      string
	Window     string // a part of the run that was asked for
	Classes    []fact
	Errors     []fact
	Chapters   []chapter
	Provenance string
}

// A fact is a name with a value.
type fact struct {
	Name, Value string
	Interval    string // of a percentile; empty where there is none
}

// section is what the page says about a run, one of so many.
func (p *page) section(r plot.Run, v vllm.Version, of int) (*section, error) {
	s := &section{Run: r, Facts: facts(r.Summary), Errors: commonest(r.Errors), Chapters: p.chapters(plot.Single(r, of)), Provenance: provenance(r)}
	var block, truth, window, verdict strings.Builder
	if err := errors.Join(vllm.Block(&block, r.Summary, v), report.Truth(&truth, r.Summary), report.Window(&window, r.Summary, v), report.Verdict(&verdict, r.Summary)); err != nil {
		return nil, err
	}
	s.Block, s.Truth, s.Window = block.String(), truth.String(), strings.TrimSpace(window.String())
	_, s.Reasons, _ = strings.Cut(strings.TrimSpace(verdict.String()), ": ")
	for _, class := range metrics.Classes {
		if n := r.Classes[class]; n > 0 {
			s.Classes = append(s.Classes, fact{Name: string(class), Value: fmt.Sprint(n)})
		}
	}
	return s, nil
}

// commonest are the commonest messages of failed requests.
func commonest(messages map[string]int) (all []fact) {
	texts := metrics.ByCount(messages)
	for _, text := range texts[:min(len(texts), mostErrors)] {
		all = append(all, fact{Name: text, Value: fmt.Sprint(messages[text])})
	}
	return all
}

// provenance says what program made the run, where and when.
func provenance(r plot.Run) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	h := r.Header
	add("model", h.Config.Model)
	add("at", h.Config.BaseURL+h.Config.Endpoint)
	if !h.Epoch.IsZero() {
		add("begun", h.Epoch.UTC().Format(time.RFC3339))
	} else if !r.Date.IsZero() {
		add("ended", r.Date.UTC().Format(time.RFC3339))
	}
	add("servebench", h.Version)
	add("run", h.Run)
	add("from", r.File)
	return strings.Join(parts, " · ")
}

// facts are the numbers that a reader looks for first, percentiles with their intervals.
func facts(s *metrics.Summary) (all []fact) {
	add := func(name, format string, v float64, interval string) {
		if !math.IsNaN(v) && v >= 0 {
			all = append(all, fact{name, fmt.Sprintf(format, v), interval})
		}
	}
	add("Completed", "%.0f", float64(s.Completed), "")
	add("Failed", "%.0f", float64(s.Failed), "")
	add("Request throughput", "%.2f req/s", s.RequestThroughput, "")
	add("Output throughput", "%.1f tok/s", s.OutputThroughput, "")
	add("Goodput", "%.2f req/s", s.Goodput, "")
	if s.Completed == 0 {
		return all
	}
	for _, metric := range []string{"ttft", "tpot", "e2el"} {
		d, name := s.Metric(metric), strings.ToUpper(metric)
		add("Median "+name, "%.2f ms", d.Median(), "")
		add("P99 "+name, "%.2f ms", d.Percentile(99), report.Interval(d, 99))
	}
	return all
}
