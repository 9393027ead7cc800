// Package comparison writes what metrics/compare decided between runs.
//
// A format is an entry of Formats. Those for people are made by templates, see comparison.tmpl; the others are
// for programs: JSON, JUnit, the Go benchmark format.
package comparison

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/report/layout"
)

// Formats are the formats of a comparison: text; markdown with the verdict first; two
// annotations for a GitHub workflow, which shows ten of a step at most (an error for a regression,
// a warning for no verdict or a notice for a pass, with all reasons, and a notice with all notes);
// JUnit XML; JSON; and the runs of one side in the Go benchmark format.
var Formats = map[string]func(io.Writer, *compare.Comparison) error{
	"text": Text, "markdown": templated("markdown"), "github": templated("github"),
	"junit": inJUnit, "json": inJSON, "bench-old": benchOld, "bench-new": benchNew,
}

// Text writes a comparison as text.
func Text(w io.Writer, c *compare.Comparison) error { return templated("text")(w, c) }

//go:embed comparison.tmpl
var texts string

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"side": side, "remarked": remarked, "legend": Legend, "legendOfMarks": legendOfMarks, "ruling": ruling,
		"outcome": outcome, "columns": columns, "table": marked, "hidden": hidden,
		"lines":     func(texts []string) string { return strings.Join(texts, "\n") },
		"paragraph": func(lines []string) string { return strings.Join(lines, "; ") },
		// The encoding of messages in GitHub's workflow commands.
		"data": strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace,
	}).Parse(texts))
})

func templated(name string) func(io.Writer, *compare.Comparison) error {
	return func(w io.Writer, c *compare.Comparison) error {
		var text bytes.Buffer
		if err := templates().ExecuteTemplate(&text, name, c); err != nil {
			return err
		}
		_, err := w.Write(text.Bytes())
		return err
	}
}

// columns are the rows of a point in a table that fits into 80 columns. A mark shows which rows are
// gated, and the finding.
func columns(p *compare.Point, whole bool) string {
	g := &layout.Grid{Heads: 1, Names: 2, Rows: [][]string{
		{"  metric", "unit", "old", "new", "change", "95 % interval", "p"}}}
	for _, r := range shownRows(p, whole) {
		from, to := bounded(r, r.Effect.From), bounded(r, r.Effect.To)
		g.Add(append([]string{mark(r) + " " + r.Number.Name, string(r.Number.Unit), from, to},
			changed(r, percent)...)...)
	}
	return rendered(g, (*layout.Grid).Text)
}

// marked is the same for Markdown, with the findings in a separate column.
func marked(p *compare.Point, whole bool) string {
	g := &layout.Grid{Heads: 1, Names: 2, Found: true, Rows: [][]string{
		{"metric", "unit", "old", "new", "change", "95 % interval", "p", "found"}}}
	for _, r := range shownRows(p, whole) {
		name := r.Number.Name
		if r.Judgement.Gated {
			name += " *"
		}
		from, to := r.Number.Text(r.Effect.From), r.Number.Text(r.Effect.To)
		g.Add(slices.Concat([]string{name, string(r.Number.Unit), from, to},
			changed(r, compare.Percent), []string{string(r.Judgement.Finding)})...)
	}
	return rendered(g, (*layout.Grid).Markdown)
}

// shownRows are the rows of a point that its table has.
func shownRows(p *compare.Point, whole bool) []*compare.Row {
	if !whole {
		return p.Notable()
	}
	var all []*compare.Row
	for i := range p.Rows {
		all = append(all, &p.Rows[i])
	}
	return all
}

// changed are the change of a row, its interval and its chance. Of few samples these two would be noise.
func changed(r *compare.Row, percent func(share float64) string) []string {
	if r.Few {
		return []string{percent(r.Effect.Share), "few samples", ""}
	}
	return []string{percent(r.Effect.Share), r.Effect.Interval(percent), r.Chance()}
}

// hidden says how many rows of a point its table leaves out; empty for none.
func hidden(p *compare.Point, whole bool) string {
	n := len(p.Rows) - len(shownRows(p, whole))
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "1 more number does not differ, or has few samples: compare --extended shows it"
	}
	return fmt.Sprintf("%d more numbers do not differ, or have few samples: compare --extended shows them", n)
}

func rendered(g *layout.Grid, write func(*layout.Grid, *bytes.Buffer)) string {
	var b bytes.Buffer
	write(g, &b)
	return b.String()
}

// marks precede the rows with a finding.
var marks = map[compare.Finding]string{compare.Worse: "!", compare.Better: "+", compare.Blurred: "?",
	compare.Equivalent: "="}

func mark(r *compare.Row) string {
	m := marks[r.Judgement.Finding]
	switch {
	case m != "":
		return m
	case r.Judgement.Gated:
		return "*"
	}
	return " "
}

// bounded is a number in at most seven characters, up to a million.
func bounded(r *compare.Row, v float64) string {
	if v < 100 || v >= unreadable {
		return r.Number.Text(v)
	}
	digits := 2
	for limit := 1e3; limit <= 1e4 && v >= limit; limit *= 10 {
		digits--
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// unreadable is the least number that texts have in a short form: see metrics.Readable.
const unreadable = 1e9

// percent is a share, without decimals if it is large.
func percent(share float64) string {
	if size := math.Abs(share); size >= 1 && 100*size < unreadable {
		return strings.Replace(fmt.Sprintf("%+.0f %%", share*100), "-", "−", 1)
	}
	return compare.Percent(share)
}

// Legend says how to read a comparison's rows, a line each.
func Legend(c *compare.Comparison) []string {
	gated, tested, content, resampled := 0, false, false, false
	for i := range c.Points {
		for _, r := range c.Points[i].Rows {
			tested = tested || !math.IsNaN(r.P)
			content, resampled = content || r.FromContent, resampled || r.Evidence.Resampled
			if r.Judgement.Gated {
				gated++
			}
		}
	}
	var lines []string
	for _, of := range []struct {
		design compare.Design
		change string
	}{
		{compare.InPairs, "old, new: means over the pairs; change: from the one to the other"},
		{compare.InTurns, "old: the median; change: the median over all pairs of an old and a new " + string(c.Unit) +
			"; new: old with the change"},
		{compare.OneAfterOther, "old, new: means; change: from the one to the other"},
		{compare.Chain, "old, new: means of the baseline sessions and of the new runs; change: from the one to the other"},
	} {
		if slices.ContainsFunc(c.Points, func(p compare.Point) bool { return p.Design == of.design }) {
			lines = append(lines, of.change)
		}
	}
	if tested {
		lines = append(lines, fmt.Sprintf("p: how likely chance alone makes such a difference; %g or less counts", c.Alpha))
	}
	if tested && gated > 1 {
		adjusted := fmt.Sprintf("p of gated rows is adjusted for all %d of them", gated)
		if c.Sequential() {
			adjusted += ", and like the intervals for each look at the pairs"
		}
		lines = append(lines, adjusted)
	}
	if resampled {
		lines = append(lines, "percentiles: sharpened by resampling the requests of each run")
	}
	if content {
		lines = append(lines, "TTFT ends, and TPOT begins, at the first chunk with content")
	}
	return lines
}

// legendOfMarks explains the marks of columns, "" if there are none.
func legendOfMarks(c *compare.Comparison) string {
	var parts []string
	for _, m := range []struct {
		mark, means string
		on          func(compare.Row) bool
	}{
		{"*", "gated", func(r compare.Row) bool { return r.Judgement.Gated && r.Judgement.Finding == "" }},
		{marks[compare.Worse], "gated, regressed", found(compare.Worse)},
		{marks[compare.Better], "gated, improved", found(compare.Better)},
		{marks[compare.Blurred], "gated, too noisy", found(compare.Blurred)},
		{marks[compare.Equivalent], "gated, equivalent", found(compare.Equivalent)},
	} {
		if slices.ContainsFunc(c.Points, func(p compare.Point) bool { return slices.ContainsFunc(p.Rows, m.on) }) {
			parts = append(parts, m.mark+": "+m.means)
		}
	}
	return strings.Join(parts, "; ")
}

// found reports that a row has that finding.
func found(finding compare.Finding) func(compare.Row) bool {
	return func(r compare.Row) bool { return r.Judgement.Finding == finding }
}

// side describes the runs of one side in a line.
func side(name string, runs []*brief.Run) string {
	completed, failed, known := 0, 0, true
	for _, r := range runs {
		completed += max(r.Completed, 0)
		failed += max(r.Failed, 0)
		known = known && r.Failed >= 0
	}
	line := fmt.Sprintf("%s: %s, %s completed", name, metrics.Counted(len(runs), "run"),
		metrics.Counted(completed, "request"))
	if known {
		line += fmt.Sprintf(", %d failed", failed)
	}
	return line
}

// remarked are the remarks on rows; equal remarks are combined.
func remarked(p *compare.Point, whole bool) []string {
	var texts []string
	names := map[string][]string{}
	for _, r := range shownRows(p, whole) {
		for _, text := range r.Remarks {
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], r.Number.Name)
		}
	}
	for i, text := range texts {
		texts[i] = strings.Join(names[text], ", ") + ": " + text
	}
	return texts
}

// ruling is the verdict, and for which servers it holds if not for all their starts.
func ruling(c *compare.Comparison) string {
	line := string(c.Verdict)
	if scope := c.Scope(); scope != "" && c.Verdict != compare.NoVerdict {
		line += ", " + scope
	}
	return line
}

// outcome is the verdict in a line, with improvements.
func outcome(c *compare.Comparison) string {
	var better []string
	for i := range c.Points {
		for _, what := range c.Points[i].Better {
			better = append(better, strings.TrimSpace(c.Points[i].Name()+" "+what))
		}
		for _, r := range c.Points[i].Rows {
			if r.Judgement.Finding == compare.Better {
				better = append(better, strings.TrimSpace(c.Points[i].Name()+" "+r.Number.Name))
			}
		}
	}
	line := ruling(c)
	if c.Verdict == compare.Pass {
		line += ": " + c.Excluded()
	}
	if better != nil {
		line += "; better: " + strings.Join(better, ", ")
	}
	return line
}
