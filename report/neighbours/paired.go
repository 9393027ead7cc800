package neighbours

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/report/layout"
)

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
