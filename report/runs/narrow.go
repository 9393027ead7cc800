package runs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// Text writes the table for a terminal of so many characters. It shows the labels and
// numbers that differ between rows, the weightiest numbers first, as many as fit. Lines
// below say what all rows have in common, which numbers are left out, and where they are:
// rest is a file or a command.
func (t Table) Text(w io.Writer, width int, rest string) error {
	n := narrowed{Table: t, width: width}
	n.choose()
	var b bytes.Buffer
	n.grid().Text(&b)
	if n.marked {
		n.note(&b, layout.Few, layout.FewMeans())
	}
	n.note(&b, "In all rows:", strings.Join(n.common, ", "))
	if n.left != nil {
		n.note(&b, "Left out:", strings.Join(n.left, ", ")+"; all numbers are in "+rest)
	}
	n.remarks(&b)
	_, err := io.WriteString(w, screen.CleanLines(b.String()))
	return err
}

// A narrowed table is one that is made to fit.
type narrowed struct {
	Table
	width   int
	names   []string         // labels that are shown
	columns []metrics.Number // that are shown
	common  []string         // what all rows have in common
	left    []string         // numbers without space
	marked  bool             // a percentile of few values is shown
}

// weights are the numbers in the order in which a reader wants them. All others follow.
var weights = []string{
	"failed", "mean_ttft_ms", "median_job_s", "sessions_per_s", "cached_percent", "output_tokens_per_s", "mean_tpot_ms",
	"p99_ttft_ms", "p99_tpot_ms", "requests_per_s", "mean_itl_ms", "mean_e2el_ms", "duration_s", "completed",
}

// choose decides what is shown.
func (n *narrowed) choose() {
	space := n.width - len("OVERLOADED") // the verdict
	for _, name := range n.labels() {
		values := n.values(func(r *Row) string { return metrics.Value(r.Labels, name) })
		if len(n.Rows) > 1 && len(metrics.Distinct(values)) == 1 {
			n.common = append(n.common, name+" "+values[0])
			continue
		}
		n.names = append(n.names, name)
		space -= widest(append(values, name)) + gap
	}
	columns := n.Table.columns()
	byWeight := slices.Clone(columns)
	slices.SortStableFunc(byWeight, func(a, b metrics.Number) int { return weight(a) - weight(b) })
	shown := map[string]bool{}
	for _, c := range byWeight {
		values := n.values(func(r *Row) string { return r.shown(c) })
		switch same := metrics.Distinct(values); {
		case len(same) == 1 && same[0] == "":
		case len(same) == 1 && len(n.Rows) > 1:
			text := c.Head + " " + same[0]
			if slices.ContainsFunc(n.Rows, func(r Row) bool { return c.Few(r.Summary) }) {
				text += layout.Few
				n.marked = true
			}
			n.common = append(n.common, text)
		default:
			above, below := layout.TwoHeads(&c)
			if taken := widest(append(values, above, below)) + 1 + gap; taken <= space {
				space -= taken
				shown[c.Key] = true
				continue
			}
			n.left = append(n.left, c.Head)
		}
	}
	n.columns = slices.DeleteFunc(columns, func(c metrics.Number) bool { return !shown[c.Key] })
}

// gap is the space between two columns.
const gap = 2

func weight(c metrics.Number) int {
	if i := slices.Index(weights, c.Key); i >= 0 {
		return i
	}
	return len(weights)
}

// values are the texts of a column.
func (n *narrowed) values(of func(*Row) string) (texts []string) {
	for i := range n.Rows {
		texts = append(texts, of(&n.Rows[i]))
	}
	return texts
}

func widest(texts []string) (most int) {
	for _, text := range texts {
		most = max(most, screen.Width(text))
	}
	return most
}

// grid has a row for each of the table's, with what was chosen.
func (n *narrowed) grid() *layout.Grid {
	var heads []string
	for _, name := range n.names {
		heads = append(heads, "|"+name)
	}
	heads = append(heads, layout.Heads(n.columns)...)
	g := layout.TwoLined(len(n.names), append(heads, "|verdict")...)
	g.Found = true
	for i := range n.Rows {
		row := &n.Rows[i]
		var cells []string
		for _, name := range n.names {
			cells = append(cells, metrics.Value(row.Labels, name))
		}
		for _, c := range n.columns {
			text := row.shown(c)
			if text != "" && c.Few(row.Summary) {
				text += layout.Few
				n.marked = true
			}
			cells = append(cells, text)
		}
		g.Add(append(cells, row.verdict())...)
	}
	return g
}

// note writes a text after a label, unless it is empty.
func (n *narrowed) note(b *bytes.Buffer, label, text string) {
	if text != "" {
		screen.Screen{}.Write(b, screen.Item(screen.Span{Text: label}, len(label)+1, n.width, screen.Span{Text: text})...)
	}
}

// remarks writes what is to be said of rows, once for all rows of which it is the same.
func (n *narrowed) remarks(b *bytes.Buffer) {
	var texts []string
	rows := map[string][]string{}
	for i := range n.Rows {
		row := &n.Rows[i]
		remark := row.brief()
		if remark == "" {
			continue
		}
		var names []string
		for _, name := range n.names {
			if value := metrics.Value(row.Labels, name); value != "" {
				names = append(names, name+" "+value)
			}
		}
		text := row.line(remark)
		if rows[text] == nil {
			texts = append(texts, text)
		}
		rows[text] = append(rows[text], strings.Join(names, ", "))
	}
	for _, text := range texts {
		n.note(b, "-", fmt.Sprintf("%s: %s", strings.Join(rows[text], "; "), text))
	}
}
