package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"
	"text/template"

	"golang.org/x/perf/benchmath"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
)

// ComparisonFormats are what a comparison can be written as: text; markdown with the
// verdict first; two annotations of a GitHub workflow, which shows ten of a step at most:
// an error for a regression, a warning for no verdict or a notice for a pass, with all
// reasons in it, and a notice with all notes; JUnit XML; JSON; and the runs of one side in
// the Go benchmark format.
var ComparisonFormats = map[string]func(io.Writer, *compare.Comparison) error{
	"text": Comparison, "markdown": templated("markdown"), "github": templated("github"),
	"junit": comparisonJUnit, "json": comparisonJSON, "bench-old": benchOld, "bench-new": benchNew,
}

// Comparison writes a comparison as text.
func Comparison(w io.Writer, c *compare.Comparison) error { return templated("text")(w, c) }

//go:embed comparison.tmpl
var comparisonText string

var comparisonTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"side": side, "remarked": remarked, "legend": legend, "outcome": outcome,
	"columns": func(p *compare.Point) string { return rendered(p, (*grid).text) },
	"table":   func(p *compare.Point) string { return rendered(p, (*grid).markdown) },
	"lines":   func(texts []string) string { return strings.Join(texts, "\n") },
	"escape":  strings.NewReplacer("*", `\*`).Replace,
	// As GitHub's workflow commands want a message.
	"data": strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace,
}).Parse(comparisonText))

func templated(name string) func(io.Writer, *compare.Comparison) error {
	return func(w io.Writer, c *compare.Comparison) error {
		var text bytes.Buffer
		if err := comparisonTemplates.ExecuteTemplate(&text, name, c); err != nil {
			return err
		}
		_, err := w.Write(text.Bytes())
		return err
	}
}

// rendered are the rows of a point in a table.
func rendered(p *compare.Point, write func(*grid, *bytes.Buffer)) string {
	g := &grid{heads: 1, names: 2, found: true, rows: [][]string{{"metric", "unit", "old", "new", "change", "95 % interval", "p", "found"}}}
	for i := range p.Rows {
		r := &p.Rows[i]
		name := r.Name
		if r.Gated {
			name += " *"
		}
		g.add(name, r.Unit, center(r.Old), center(r.New), compare.Percent(r.Effect.Share), interval(r.Effect), chance(r), string(r.Finding))
	}
	var b bytes.Buffer
	write(g, &b)
	return b.String()
}

// center is a median with as many digits as the block gives.
func center(s benchmath.Summary) string { return fmt.Sprintf("%.2f", s.Center) }

// interval is empty where runs are too few for one. It has no upper end where an old number
// is 0.
func interval(e compare.Effect) string {
	switch {
	case !e.Bounded(), math.IsInf(e.Low, 1):
		return ""
	case math.IsInf(e.High, 1):
		return "≥ " + compare.Percent(e.Low)
	}
	return compare.Percent(e.Low) + " … " + compare.Percent(e.High)
}

// chance is the p value, behind a ~ when the sides cannot be told from noise.
func chance(r *compare.Row) string {
	p := r.P
	if r.Gated {
		p = r.Adjusted
	}
	switch {
	case math.IsNaN(p):
		return ""
	case !r.Differs:
		return fmt.Sprintf("~ %.3f", p)
	case p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// legend says how to read a comparison's rows.
func legend(c *compare.Comparison) string {
	gated, tested, content := 0, false, false
	for i := range c.Points {
		for _, r := range c.Points[i].Rows {
			tested = tested || !math.IsNaN(r.P)
			content = content || r.FromContent
			if r.Gated {
				gated++
			}
		}
	}
	parts := []string{"change: median over all pairs of an old and a new run"}
	if gated > 0 && tested {
		parts = append(parts, fmt.Sprintf("*: gated, p with regard to all %d of them", gated))
	} else if gated > 0 {
		parts = append(parts, "*: gated")
	}
	if tested {
		parts = append(parts, "~: not to be told from noise")
	}
	if content {
		parts = append(parts, "ttft, tpot: to and from the first content")
	}
	return strings.Join(parts, "; ")
}

// side says in a line what the runs of one side were.
func side(name string, runs []*compare.Run) string {
	completed, failed, known := 0, 0, true
	for _, r := range runs {
		completed += max(r.Completed, 0)
		failed += max(r.Failed, 0)
		known = known && r.Failed >= 0
	}
	line := fmt.Sprintf("%s: %s, %s completed", name, metrics.Counted(len(runs), "run"), metrics.Counted(completed, "request"))
	if known {
		line += fmt.Sprintf(", %d failed", failed)
	}
	return line
}

// remarked are the remarks on rows, those that say the same together.
func remarked(p *compare.Point) []string {
	var texts []string
	names := map[string][]string{}
	for _, r := range p.Rows {
		for _, text := range r.Remarks {
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], r.Name)
		}
	}
	for i, text := range texts {
		texts[i] = strings.Join(names[text], ", ") + ": " + text
	}
	return texts
}

// outcome is the verdict in a line, with what got better.
func outcome(c *compare.Comparison) string {
	var better []string
	for i := range c.Points {
		for _, what := range c.Points[i].Better {
			better = append(better, strings.TrimSpace(c.Points[i].Name()+" "+what))
		}
		for _, r := range c.Points[i].Rows {
			if r.Finding == compare.Better {
				better = append(better, strings.TrimSpace(c.Points[i].Name()+" "+r.Name))
			}
		}
	}
	line := string(c.Verdict)
	if c.Verdict == compare.Pass {
		line += ": nothing that is gated got worse by more than its margin"
	}
	if better != nil {
		line += "; better: " + strings.Join(better, ", ")
	}
	return line
}
