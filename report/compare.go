package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/servebench/servebench/metrics/compare"
)

// comparedHeads are the columns of a comparison. The first compareLeft are names.
var comparedHeads = []string{"metric", "unit", "old", "new", "change", "95 % interval", "p", "found"}

const compareLeft = 2

// compared are the rows of a point under comparedHeads.
func compared(p *compare.Point) [][]string {
	cells := [][]string{slices.Clone(comparedHeads)}
	for i := range p.Rows {
		r := &p.Rows[i]
		name := r.Name
		if r.Gated {
			name += " *"
		}
		cells = append(cells, []string{name, r.Unit, center(r.Old), center(r.New), compare.Percent(r.Effect.Share),
			interval(r.Effect), chance(r), string(r.Finding)})
	}
	return cells
}

// center is a median with as many digits as the block gives.
func center(s benchmath.Summary) string { return fmt.Sprintf("%.2f", s.Center) }

// interval is empty where runs are too few for one.
func interval(e compare.Effect) string {
	if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) {
		return ""
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
	line := fmt.Sprintf("%s: %s, %s completed", name, counted(len(runs), "run"), counted(completed, "request"))
	if known {
		line += fmt.Sprintf(", %d failed", failed)
	}
	return line
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
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

// Comparison writes a comparison as text.
func Comparison(w io.Writer, c *compare.Comparison) error {
	var text strings.Builder
	for i := range c.Points {
		p := &c.Points[i]
		if i > 0 {
			text.WriteString("\n")
		}
		if p.Load != nil {
			fmt.Fprintf(&text, "%s\n", p.Name())
		}
		fmt.Fprintf(&text, "%s\n%s\n\n", side("old", p.Old), side("new", p.New))
		if len(p.Rows) > 0 {
			inColumns(&text, compared(p))
			text.WriteString("\n")
		}
		for _, remark := range remarked(p) {
			fmt.Fprintf(&text, "- %s\n", remark)
		}
	}
	fmt.Fprintf(&text, "%s\n", legend(c))
	for _, note := range c.Notes {
		fmt.Fprintf(&text, "note: %s\n", note)
	}
	fmt.Fprintf(&text, "\n%s\n", outcome(c))
	for _, reason := range c.Reasons {
		fmt.Fprintf(&text, "- %s\n", reason)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// inColumns writes cells in columns two spaces apart, names to the left. Columns
// that are empty below their heads are left out.
func inColumns(text *strings.Builder, cells [][]string) {
	widths := make([]int, len(cells[0]))
	for i := range widths {
		for n, row := range cells {
			if n > 0 && row[i] != "" {
				widths[i] = max(widths[i], len([]rune(row[i])), len([]rune(cells[0][i])))
			}
		}
	}
	for _, row := range cells {
		var line strings.Builder
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i < compareLeft || i == len(row)-1 {
				line.WriteString(cell + pad + "  ")
			} else {
				line.WriteString(pad + cell + "  ")
			}
		}
		fmt.Fprintln(text, strings.TrimRight(line.String(), " "))
	}
}
