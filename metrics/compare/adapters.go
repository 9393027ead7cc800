package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// ofAdapter is the metric of the requests to one LoRA adapter, whose name is the adapter's, a slash
// and m's. It is false for a metric that adapters do not have.
func ofAdapter(adapter string, m Metric) (Metric, bool) {
	if m.latency == "" && adapterRate(m.Name) == nil || m.latency != "" && adapterLatency(m.latency) == nil {
		return Metric{}, false
	}
	if m.latency != "" {
		m.latency = adapter + "/" + m.latency
		m.Of = known(m.latency, m.statistic)
	} else {
		rate := adapterRate(m.Name)
		m.Of = func(s *metrics.Summary) float64 {
			if a := adapterOf(s, adapter); a != nil {
				return rate(a)
			}
			return math.NaN()
		}
	}
	m.Name = adapter + "/" + m.Name
	return m, true
}

// cutAdapter cuts a name into the adapter's, which is empty for none, and the metric's or the
// latency's.
func cutAdapter(name string) (adapter, of string) {
	i := strings.LastIndex(name, "/")
	return name[:max(i, 0)], name[i+1:]
}

// adapterRate is what gives a rate of an adapter, nil for an unknown one.
func adapterRate(name string) func(*metrics.Adapter) float64 {
	return map[string]func(*metrics.Adapter) float64{
		"request_throughput": func(a *metrics.Adapter) float64 { return a.RequestThroughput },
		"output_throughput":  func(a *metrics.Adapter) float64 { return a.OutputThroughput },
		"goodput":            func(a *metrics.Adapter) float64 { return a.Goodput },
	}[name]
}

// adapterLatency is what gives a latency of an adapter, nil for an unknown one.
func adapterLatency(name string) func(*metrics.Adapter) *metrics.Distribution {
	return map[string]func(*metrics.Adapter) *metrics.Distribution{
		"ttft": func(a *metrics.Adapter) *metrics.Distribution { return &a.TTFT },
		"tpot": func(a *metrics.Adapter) *metrics.Distribution { return &a.TPOT },
		"e2el": func(a *metrics.Adapter) *metrics.Distribution { return &a.E2EL },
	}[name]
}

// adapterOf is the adapter of that name, nil if the run has none.
func adapterOf(s *metrics.Summary, name string) *metrics.Adapter {
	i := slices.IndexFunc(s.Adapters, func(a metrics.Adapter) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Adapters[i]
}

// adapterMetrics are all metrics of an adapter.
func adapterMetrics(adapter string) []Metric {
	var all []Metric
	for _, m := range Metrics {
		if of, ok := ofAdapter(adapter, m); ok {
			all = append(all, of)
		}
	}
	return all
}

// adapterLatencies are the names of the latencies of a run's adapters.
func adapterLatencies(s *metrics.Summary) (names []string) {
	for i := range s.Adapters {
		for _, latency := range []string{"ttft", "tpot", "e2el"} {
			names = append(names, s.Adapters[i].Name+"/"+latency)
		}
	}
	return names
}

// mostAdapters is how many adapters have rows in a comparison. The others can be gated.
const mostAdapters = 10

// shownOfAdapters are the metrics of an adapter in a comparison.
var shownOfAdapters = []string{"output_throughput", "goodput", "median_ttft", "p99_ttft", "median_tpot", "p99_e2el"}

// adapterRows are the metrics of the adapters that all runs of the point have, without the gate's.
func (p *Point) adapterRows(gate *Gate) (shown []Metric) {
	const mark = "/request_throughput"
	runs, extra := slices.Concat(p.Old, p.New), gate.Extra()
	var adapters []string
	for name := range runs[0].Numbers {
		adapter, is := strings.CutSuffix(name, mark)
		if is && !slices.ContainsFunc(runs, func(r *Run) bool { _, has := r.Numbers[name]; return !has }) {
			adapters = append(adapters, adapter)
		}
	}
	slices.Sort(adapters)
	for _, adapter := range adapters[:min(len(adapters), mostAdapters)] {
		for _, name := range shownOfAdapters {
			m, ok := Find(adapter + "/" + name)
			if ok && !slices.ContainsFunc(extra, func(other Metric) bool { return other.Name == m.Name }) {
				shown = append(shown, m)
			}
		}
	}
	return shown
}
