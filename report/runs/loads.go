package runs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// headline are the numbers of which Medians has the medians, by their keys.
var headline = []string{"output_tokens_per_s", "mean_ttft_ms", "p99_ttft_ms", "mean_tpot_ms"}

// Medians writes a table with a row for each load: for some numbers the median over its repeats,
// and in a file the least and the most. It writes nothing if no load was repeated. In a file it is
// Markdown.
func (t Table) Medians(w io.Writer, shown screen.Screen) error {
	if !t.Repeated() {
		return nil
	}
	if used := slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return r.Unused }); len(used) > 0 {
		t.Rows = used
	}
	columns := t.Numbers
	if columns == nil {
		columns = slices.DeleteFunc(t.columns(), func(c metrics.Number) bool { return !slices.Contains(headline, c.Key) })
	}
	heads := []string{"|repeats"}
	for _, c := range columns {
		above, below := layout.TwoHeads(&c)
		heads = append(heads, above+"|"+below)
	}
	names, loads := t.Loads("repeat")
	g := layout.OfLoads(names, shown, append(heads, "|verdict")...)
	g.Found = true
	marked := false
	for _, load := range loads {
		cells := append(load.Named(names), fmt.Sprint(len(load.Rows)))
		for _, c := range columns {
			text, rare := load.median(c, !shown.IsTerminal())
			marked = marked || rare
			cells = append(cells, text)
		}
		g.Add(append(cells, load.verdicts())...)
	}
	title := "Median over the repeats"
	if !shown.IsTerminal() {
		title += " (least … most)"
	}
	return g.Write(w, shown, title, marked)
}

// Repeated reports whether there are several runs of a load. The probes of a search are none.
func (t Table) Repeated() bool {
	names, loads := t.Loads("repeat")
	return !slices.Contains(names, "probe") &&
		slices.ContainsFunc(loads, func(load Table) bool { return len(load.Rows) > 1 })
}

// Loads are the rows that differ only in these labels, and the names of the other labels.
func (t Table) Loads(but ...string) (names []string, loads []Table) {
	names = slices.DeleteFunc(t.labels(), func(name string) bool { return slices.Contains(but, name) })
	keys, rows := metrics.By(t.Rows, func(r Row) string { return fmt.Sprintf("%q", Table{Rows: []Row{r}}.Named(names)) })
	for _, key := range keys {
		loads = append(loads, Table{Rows: rows[key], Numbers: t.Numbers})
	}
	return names, loads
}

// Named are the first row's values of labels.
func (t Table) Named(names []string) (values []string) {
	for _, name := range names {
		values = append(values, metrics.Value(t.Rows[0].Labels, name))
	}
	return values
}

// median is the median of a number over the rows, on request with the least and the most. It is
// marked, and rare is true, if it rests on too few samples in a row.
func (t Table) median(c metrics.Number, ends bool) (text string, rare bool) {
	var values []float64
	for i := range t.Rows {
		if t.Rows[i].number(c) == "" {
			continue
		}
		values = append(values, c.Of(t.Rows[i].Summary))
		rare = rare || c.Few(t.Rows[i].Summary)
	}
	if values == nil {
		return "", false
	}
	slices.Sort(values)
	text = layout.Decimal(numpy.Median(values))
	if rare {
		text += layout.Few
	}
	if ends && len(values) > 1 {
		text += fmt.Sprintf(" (%s … %s)", layout.Decimal(values[0]), layout.Decimal(values[len(values)-1]))
	}
	return text, rare
}

// verdicts are the verdicts on the rows with their counts, or the one on all.
func (t Table) verdicts() string {
	words, rows := metrics.By(t.Rows, func(r Row) string { return r.verdict() })
	if len(words) == 1 {
		return words[0]
	}
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", len(rows[word]), cmp.Or(word, "-"))
	}
	return strings.Join(words, ", ")
}
