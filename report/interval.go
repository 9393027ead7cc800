package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/report/layout"
)

// intervalColumn is the width of an interval in characters.
const intervalColumn = 16

// Interval is the 95 % confidence interval of the p-th percentile of a latency, in milliseconds, as
// "41.23–52.10". It is "≥ 41.23" if the samples are too few for an upper end, and "?" if it is
// unknown. An asterisk says that the samples are too few to decide anything. Interval is "" for p
// of 0 and 100, and without samples.
func Interval(d *metrics.Distribution, p float64) string {
	if d.Len() == 0 || p <= 0 || p >= 100 {
		return ""
	}
	text := "?"
	if i, known := d.Interval(p); known {
		switch low, high := !math.IsInf(i.Low, 0), !math.IsInf(i.High, 0); {
		case low && high:
			text = bound(i.Low) + "–" + bound(i.High)
		case low:
			text = "≥ " + bound(i.Low)
		case high:
			text = "≤ " + bound(i.High)
		default:
			text = "≥ 0"
		}
	}
	if size := (stats.TailSize{Percentile: p, N: d.Len()}); size.Few() {
		text += layout.Few
	}
	return text
}

// bound is an end of an interval with as many digits as matter.
func bound(v float64) string {
	digits := 2
	if v >= 100 {
		digits = 1
	}
	if v >= 1000 {
		digits = 0
	}
	return metrics.Readable(v, digits)
}

// intervals writes a table of the confidence intervals of the block's percentiles. If there are
// many percentiles, it has the last ones.
func intervals(b *bytes.Buffer, s *metrics.Summary, width int) {
	percentiles := slices.DeleteFunc(slices.Clone(s.Header.Config.Percentiles),
		func(p float64) bool { return p <= 0 || p >= 100 })
	percentiles = percentiles[max(0, len(percentiles)-max(0, (width-layout.Label)/intervalColumn)):]
	var rows bytes.Buffer
	for _, m := range metrics.Metrics {
		d := m.Of(s)
		if !s.Header.Config.Selected(m.Name) || d.Len() == 0 {
			continue
		}
		name := m.Label
		if m.Name == "itl" {
			name += ", by request"
		}
		var cells []string
		for _, p := range percentiles {
			cells = append(cells, Interval(d, p))
		}
		layout.Line(&rows, name, intervalColumn, cells...)
	}
	if rows.Len() == 0 || percentiles == nil {
		return
	}
	layout.Line(b, "95 % interval, milliseconds", intervalColumn, percentileHeads(percentiles)...)
	b.Write(rows.Bytes())
	if bytes.Contains(rows.Bytes(), []byte(layout.Few)) {
		fmt.Fprintln(b, layout.Few, layout.FewMeans())
	}
	if bytes.Contains(rows.Bytes(), []byte("?")) {
		fmt.Fprintln(b, "? not known: a histogram does not say which gaps are of one request")
	}
}
