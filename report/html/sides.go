package html

import (
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/plot"
)

// sided are the labels whose two values may be two sides to compare.
var sided = []string{"arm", "label", "file"}

// A versus is two sides in words.
type versus struct{ Old, New, Text string }

// sides compares the runs of two arms, labels or files. The first one is the old side. It
// is nil unless there are exactly two.
func sides(runs []plot.Run) (*versus, error) {
	for _, key := range sided {
		names, sides := metrics.By(runs, func(r plot.Run) string { return metrics.Value(r.Labels, key) })
		if len(names) != 2 {
			continue
		}
		v := &versus{Old: names[0], New: names[1]}
		var text strings.Builder
		c := compare.Compare(compare.Runs(summaries(sides[v.Old])), compare.Runs(summaries(sides[v.New])), compare.DefaultGate())
		err := report.Comparison(&text, c)
		v.Text = strings.TrimSpace(text.String())
		return v, err
	}
	return nil, nil
}
