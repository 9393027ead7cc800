package compare

import (
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// mostAdapters is how many adapters have rows in a comparison. The others can be gated.
const mostAdapters = 10

// shownOfAdapters are the metrics of an adapter in a comparison.
var shownOfAdapters = []string{"output_throughput", "goodput", "median_ttft", "p99_ttft", "median_tpot", "p99_e2el"}

// adapterRows are the metrics of the adapters that all runs of the point have, without the gate's.
func (s *Sides) adapterRows(gate *gating.Gate) (shown []metrics.Number) {
	const mark = "/request_throughput"
	runs, extra := slices.Concat(s.Old, s.New), gate.Extra()
	var names []string
	for name := range runs[0].Numbers {
		adapter, is := strings.CutSuffix(name, mark)
		if is && !slices.ContainsFunc(runs, func(r *brief.Run) bool { _, has := r.Numbers[name]; return !has }) {
			names = append(names, adapter)
		}
	}
	slices.Sort(names)
	for _, adapter := range names[:min(len(names), mostAdapters)] {
		for _, name := range shownOfAdapters {
			m, ok := numbers.Find(adapter + "/" + name)
			if ok && !slices.ContainsFunc(extra, func(other metrics.Number) bool { return other.Name == m.Name }) {
				shown = append(shown, m)
			}
		}
	}
	return shown
}
