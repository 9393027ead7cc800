package html

import (
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/plot"
)

// sided are the labels that tell two sides apart which one may want to compare.
var sided = []string{"arm", "label", "file"}

// A versus is two sides in words.
type versus struct{ Old, New, Text string }

// sides compares the runs of two arms, labels or files, the first to be
// seen being the old ones; nil where there are not just two.
func sides(runs []plot.Run) (*versus, error) {
	for _, key := range sided {
		var names []string
		sums := map[string][]*metrics.Summary{}
		for _, r := range runs {
			i := slices.IndexFunc(r.Labels, func(kv metrics.KV) bool { return kv.Key == key })
			if i < 0 {
				continue
			}
			name := r.Labels[i].Value
			if sums[name] == nil {
				names = append(names, name)
			}
			sums[name] = append(sums[name], r.Summary)
		}
		if len(names) != 2 {
			continue
		}
		v := &versus{Old: names[0], New: names[1]}
		var text strings.Builder
		c := compare.Compare(compare.Runs(sums[v.Old]), compare.Runs(sums[v.New]), compare.DefaultGate())
		err := report.Comparison(&text, c)
		v.Text = strings.TrimSpace(text.String())
		return v, err
	}
	return nil, nil
}
