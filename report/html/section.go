package html

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/overview"
	"github.com/servebench/servebench/report/plot"
)

// mostErrors is how many different messages a section lists.
const mostErrors = 10

// A section is one run on a page.
type section struct {
	plot.Run
	ID         string
	Facts      []overview.Fact
	Verdict    *overview.Verdict // nil if the run was not judged
	Block      string
	Truth      string
	Sessions   string
	Adapters   string
	Waterfall  string // the spans of its requests, if they were requested
	Window     string // a part of the run that was asked for
	Classes    []fact
	Errors     []fact
	Chapters   []chapter
	Provenance string
}

// A fact is a name with a value.
type fact struct{ Name, Value string }

// section is what the page says about a run.
func (p *page) section(r plot.Run, v vllm.Version, chapters []plot.Chapter) (*section, error) {
	s := &section{Run: r, Facts: overview.Facts(r.Summary), Verdict: overview.Judged(r.Summary),
		Errors: commonest(r.Summary.Printed.Errors), Chapters: p.chapters(chapters), Provenance: provenance(r)}
	var block, truth, sessions, adapters, window, waterfall strings.Builder
	if err := errors.Join(vllm.Block(&block, r.Summary, v), report.Truth(&truth, r.Summary),
		report.Sessions(&sessions, r.Summary, true), report.Adapters(&adapters, r.Summary),
		report.Window(&window, r.Summary, v), report.Waterfall(&waterfall, r.Summary)); err != nil {
		return nil, err
	}
	s.Block, s.Truth, s.Sessions, s.Window = block.String(), truth.String(), strings.TrimSpace(sessions.String()),
		strings.TrimSpace(window.String())
	_, s.Adapters, _ = strings.Cut(strings.TrimSpace(adapters.String()), "\n")   // the page has its own title
	_, s.Waterfall, _ = strings.Cut(strings.TrimSpace(waterfall.String()), "\n") // likewise
	for _, class := range record.Classes {
		if n := failures.Of(r.Summary).Requests(class); n > 0 {
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

// provenance says which program made the run, where and when.
func provenance(r plot.Run) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	h := r.Summary.Header
	add("model", h.Config.Model)
	add("at", h.Config.BaseURL+h.Config.Endpoint)
	if !h.Epoch.IsZero() {
		add("begun", h.Epoch.UTC().Format(time.RFC3339))
	} else if !r.Summary.When.Date.IsZero() {
		add("ended", r.Summary.When.Date.UTC().Format(time.RFC3339))
	}
	add("servebench", h.Version)
	add("run", h.Run)
	add("from", r.File)
	return strings.Join(parts, " · ")
}
