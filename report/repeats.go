package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/sharing"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// Repeats writes by how much targets slow each other down, if there are several, then a table of
// the repeated runs. For a single target, and if Extended, it adds how much they differ. On a
// terminal the table fits its width; elsewhere it is Markdown, with all numbers.
func (p *Parts) Repeats(w io.Writer, shown screen.Screen, several bool, sums []*metrics.Summary,
	experiments []sharing.Load) error {
	var table Table
	repeats := map[string]int{}
	for _, s := range sums {
		var labels []metrics.KV
		name := s.Header.TargetName()
		if several {
			labels = append(labels, metrics.KV{Key: "target", Value: name})
		}
		repeats[name]++
		labels = append(labels, metrics.KV{Key: "repeat", Value: fmt.Sprint(repeats[name])})
		table.Rows = append(table.Rows, Row{Labels: labels, Summary: s})
	}
	var b bytes.Buffer
	errs := []error{PairedBySeries(&b, sums), Sharing(&b, shown, experiments)}
	b.WriteByte('\n')
	if shown.IsTerminal() {
		errs = append(errs, table.Text(&b, shown.Width, "a page (servebench report --html) and in --format json"))
	} else {
		errs = append(errs, table.Markdown(&b))
	}
	names, runs := metrics.By(sums, func(s *metrics.Summary) string { return s.Header.TargetName() })
	if several && !p.Extended {
		names = nil
	}
	for _, name := range names {
		title := "Over all repeats"
		if several {
			title = name + ", over all repeats"
		}
		b.WriteByte('\n')
		errs = append(errs, spread(&b, title, runs[name]))
	}
	_, err := w.Write(b.Bytes())
	return errors.Join(append(errs, err)...)
}

// spreadWidth is the width of a number in the table of spread.
const spreadWidth = 9

// spread writes how much the numbers of repeated runs differ: mean, median, least and most over the
// runs, and the coefficient of variation, which is the sample standard deviation (n−1) over the
// mean. A run that lacks a number, for example a latency if no request completed, does not count
// for it. It writes nothing for fewer than two runs.
func spread(w io.Writer, title string, sums []*metrics.Summary) error {
	if len(sums) < 2 {
		return nil
	}
	var b bytes.Buffer
	layout.Line(&b, title, spreadWidth, "mean", "median", "least", "most", "CV %")
	for _, c := range spreadColumns() {
		var values []float64
		for _, s := range sums {
			if v := c.Of(s); !math.IsNaN(v) && s.Completed > 0 {
				values = append(values, v)
			}
		}
		if len(values) < 2 {
			continue
		}
		slices.Sort(values)
		mean, cv := variation(values)
		var cells []string
		for _, v := range []float64{mean, numpy.Median(values), values[0], values[len(values)-1], cv} {
			cells = append(cells, metrics.Readable(v, 2))
		}
		layout.Line(&b, fmt.Sprintf("%s (%s)", c.Label, c.Unit), spreadWidth, cells...)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// spreadColumns are the numbers of a run that are compared between repeats.
var spreadColumns = catalogue.Chosen("duration", "request_throughput", "output_throughput",
	"mean_ttft", "median_ttft", "p99_ttft", "mean_tpot", "median_tpot", "p99_tpot",
	"mean_itl", "median_itl", "p99_itl", "mean_e2el", "median_e2el", "p99_e2el")

// variation is the mean of values and their coefficient of variation in percent, which is 0 if the
// mean is 0.
func variation(values []float64) (mean, cv float64) {
	if mean = numpy.Mean(values); mean == 0 {
		return 0, 0
	}
	return mean, numpy.SampleStd(values) / mean * 100
}

// Paired writes how much each target slows down in several repeats: the mean, least and
// most over the repeats. It writes nothing without targets.
func Paired(w io.Writer, pairs []targets.Paired) error {
	if len(pairs) == 0 {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\nSlowdown of each target with the others, from %d pairs of it alone and with them\n",
		len(pairs[0].Effects))
	g := layout.TwoLined(1, slices.Concat([]string{"|target", "|"}, measureHeads())...)
	marked, bound := false, []string(nil)
	for i := range pairs {
		p := &pairs[i]
		if p.Bound {
			bound = append(bound, p.Target)
		}
		rows := [][]string{{p.Target, "mean"}, {"", "least"}, {"", "most"}}
		for _, m := range targets.Measures() {
			mark := ""
			if p.Few(m) {
				mark, marked = layout.Few, true
			}
			mean, least, most := p.Slowdown(m)
			for j, v := range []float64{mean, least, most} {
				rows[j] = append(rows[j], times(v)+mark)
			}
		}
		for _, row := range rows {
			g.Add(row...)
		}
	}
	g.Text(&b)
	tableNotes(&b, tableNote{marked: marked, compared: true, bound: bound})
	_, err := w.Write(b.Bytes())
	return err
}

// SharedStart says what the repeats of one command cannot show: how much starts of the server
// differ. It is empty if the server restarted between them, and for a single run.
func SharedStart(sums []*metrics.Summary) string {
	targets, runs := metrics.By(sums, func(s *metrics.Summary) string { return s.Header.Target })
	most, unknown := 0, false
	for _, target := range targets {
		starts := map[string]bool{}
		for _, s := range runs[target] {
			if start := processes.Start(s); start != nil {
				starts[start.ID] = true
			} else {
				unknown = true
			}
		}
		if len(starts) > 1 {
			return ""
		}
		most = max(most, len(runs[target]))
	}
	switch {
	case most < 2:
		return ""
	case unknown:
		return fmt.Sprintf("%d runs on a server that does not say when it started: if it is one start, they show how runs "+
			"on it differ, and not how starts do. "+
			"servebench sweep starts the server for each repeat", most)
	}
	return fmt.Sprintf("%d runs on one server start: they show how runs on it differ, and not how starts do. "+
		"servebench sweep starts the server for each repeat", most)
}

// PairedBySeries writes Paired for each series of repeats among the runs.
func PairedBySeries(w io.Writer, sums []*metrics.Summary) error {
	series, runs := metrics.By(sums, func(s *metrics.Summary) string { return s.Header.Series })
	var errs []error
	for _, id := range series {
		if id != "" {
			errs = append(errs, Paired(w, targets.Pair(targets.Groups(runs[id]))))
		}
	}
	return errors.Join(errs...)
}

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
	names, loads := t.loads("repeat")
	g := layout.OfLoads(names, shown, append(heads, "|verdict")...)
	g.Found = true
	marked := false
	for _, load := range loads {
		cells := append(load.named(names), fmt.Sprint(len(load.Rows)))
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
	names, loads := t.loads("repeat")
	return !slices.Contains(names, "probe") &&
		slices.ContainsFunc(loads, func(load Table) bool { return len(load.Rows) > 1 })
}

// loads are the rows that differ only in these labels, and the names of the other labels.
func (t Table) loads(but ...string) (names []string, loads []Table) {
	names = slices.DeleteFunc(t.labels(), func(name string) bool { return slices.Contains(but, name) })
	keys, rows := metrics.By(t.Rows, func(r Row) string { return fmt.Sprintf("%q", Table{Rows: []Row{r}}.named(names)) })
	for _, key := range keys {
		loads = append(loads, Table{Rows: rows[key], Numbers: t.Numbers})
	}
	return names, loads
}

// named are the first row's values of labels.
func (t Table) named(names []string) (values []string) {
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
