// Package overview selects what a reader of some runs sees first: what ran, whether to believe
// it, one table and one chart.
//
// Of makes a Front, which is plain data. Package html puts it on a page's first screen.
package overview

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report/plot"
)

// A Front is the first screen about one or more runs.
type Front struct {
	Title    string
	About    string // the model, the server and the time
	Verdicts []Verdict
	Facts    []Fact      // of one run
	Table    *Table      // of several runs; may be nil
	Chart    *plot.Chart // may be nil

	// Versus compares New with Old; nil unless there are exactly two arms, labels or files.
	Versus   *compare.Comparison
	Old, New string
	Apart    string // why several runs are not compared; may be empty
}

// Of makes the Front of runs, which must have Labels, with one of their charts. An empty title
// stands for one made from the runs.
func Of(runs []plot.Run, chapters []plot.Chapter, title string) *Front {
	f := &Front{About: about(runs), Chart: plot.Headline(chapters)}
	if len(runs) == 1 {
		f.Facts = Facts(runs[0].Summary)
	} else {
		f.compare(runs)
	}
	f.Title = cmp.Or(title, experiment(runs), f.between(), essentials(runs))
	f.Verdicts = append(f.Verdicts, believable(runs)...)
	return f
}

// compare makes the table of several runs: of two sides, of interference between the targets of one
// arm, or of the conditions.
func (f *Front) compare(runs []plot.Run) {
	if f.versus(runs); f.Versus != nil {
		why := f.Versus.Reasons
		if f.Versus.Verdict == compare.Pass {
			why = []string{f.Versus.Excluded()}
		}
		if scope := f.Versus.Scope(); scope != "" && f.Versus.Verdict != compare.NoVerdict {
			why = append([]string{"it holds " + scope}, why...)
		}
		f.Verdicts = append(f.Verdicts, Verdict{string(f.Versus.Verdict), why})
		f.Table = changes(f.Versus, f.Old, f.New)
		return
	}
	arms, _ := metrics.By(runs, func(r plot.Run) string { return metrics.Value(r.Labels, "arm") })
	if len(arms) == 1 {
		f.Table = slowdowns(runs)
	}
	if f.Table == nil {
		f.Table = middles(runs)
	}
}

// between is the title for two sides or for targets; "" for other runs.
func (f *Front) between() string {
	switch {
	case f.Versus != nil:
		return f.New + " against " + f.Old
	case f.Table != nil && f.Table.Head[0] == "target":
		var targets []string
		for _, r := range f.Table.Rows {
			targets = append(targets, r.Cells[0])
		}
		return strings.Join(targets, " and ") + ", alone and together"
	}
	return ""
}

// experiment is the name of the sweep that made all runs, by their folder; "" for other runs.
func experiment(runs []plot.Run) string {
	found := ""
	for i, r := range runs {
		path, _ := filepath.Abs(r.File) // it fails where there is no working directory: then there is no name
		folder := filepath.Base(filepath.Dir(path))
		if strings.HasSuffix(r.File, ".sweep") {
			folder = filepath.Base(r.File)
		}
		name, is := strings.CutSuffix(folder, ".sweep")
		if !is || i > 0 && name != found {
			return ""
		}
		found = name
	}
	return found
}

// essentials describe the load of one run, or name the flags in which several runs differ.
func essentials(runs []plot.Run) string {
	if len(runs) > 1 {
		var keys []string
		for _, r := range runs {
			for _, kv := range r.Labels {
				if !slices.Contains([]string{"repeat", "run", "number", "seed"}, kv.Key) {
					keys = append(keys, kv.Key)
				}
			}
		}
		return strings.TrimSuffix(fmt.Sprintf("%d runs by %s", len(runs), strings.Join(metrics.Distinct(keys), ", ")), " by ")
	}
	c := &runs[0].Summary.Header.Config
	if label := metrics.Value(runs[0].Summary.Header.Flags, "label"); label != "" {
		return label
	}
	text := "A run"
	if n := cmp.Or(max(c.NumPrompts, 0), max(runs[0].Summary.Completed, 0)+max(runs[0].Summary.Failed, 0)); n > 0 {
		text = metrics.Counted(n, "request")
	}
	if of := sessions.Of(runs[0].Summary); of != nil {
		text = metrics.Counted(cmp.Or(max(c.NumPrompts, 0), of.Begun), "session")
	}
	switch rate := c.RequestRate; {
	case c.SelfTimed:
	case rate > 0 && rate < 1e300:
		text += fmt.Sprintf(" at %g a second", rate)
	case rate > 0 && c.MaxSessions > 0:
	case rate > 0:
		text += " at once"
	}
	if c.MaxSessions > 0 {
		text += fmt.Sprintf(", at most %d in progress", c.MaxSessions)
	}
	if c.MaxConcurrency > 0 {
		text += fmt.Sprintf(", at most %d in flight", c.MaxConcurrency)
	}
	return text
}

// about names the model, the server and the time.
func about(runs []plot.Run) string {
	var parts []string
	same := func(of func(*metrics.Header) string) {
		var values []string
		for _, r := range runs {
			values = append(values, of(r.Summary.Header))
		}
		if values = metrics.Distinct(values); len(values) == 1 && values[0] != "" {
			parts = append(parts, values[0])
		}
	}
	same(func(h *metrics.Header) string { return h.Config.Model })
	same(func(h *metrics.Header) string { return h.Config.BaseURL })
	var begun time.Time
	for _, r := range runs {
		if at := r.Summary.Header.Epoch; !at.IsZero() && (begun.IsZero() || at.Before(begun)) {
			begun = at
		}
	}
	if !begun.IsZero() {
		parts = append(parts, begun.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if len(runs) > 1 {
		parts = append(parts, fmt.Sprintf("%d runs", len(runs)))
	}
	return strings.Join(parts, " · ")
}
