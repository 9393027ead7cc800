// Package numbers lists the numbers by which runs are compared.
//
// They are rows of the catalogue, and the slowdowns of targets, which take several runs. A gate names one of them, and
// a comparison has a row for each. Every other statistic of a latency can be named as well, also an adapter's.
package numbers

import (
	"slices"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/targets"
)

// All are the compared numbers in the order of the output.
var All = sync.OnceValue(func() []metrics.Number {
	return slices.Concat(catalogue.Choose("request_throughput", "output_throughput", "total_throughput",
		"input_sequence_throughput", "goodput"), latencies("ttft"), latencies("ttfo"), latencies("tpot"), latencies("itl"),
		latencies("e2el"), catalogue.Choose("session_throughput", "session_goodput"), latencies("job"),
		catalogue.Choose("joules_per_output_token", "joules_per_token", "usd_per_million_input_tokens",
			"usd_per_million_output_tokens", "usd_per_million_tokens", "wake_ready", "wake_first_token"), targets.Slowdowns())
})

// latencies are the compared numbers of a latency.
func latencies(name string) []metrics.Number {
	return catalogue.Choose("mean_"+name, "median_"+name, "p90_"+name, "p99_"+name)
}

// Find is the number of that name by which runs are compared: one of All, or of the catalogue's others a
// statistic of a latency or a number of an adapter, as p95_ttft and sql/p95_ttft.
func Find(name string) (n metrics.Number, known bool) {
	if i := slices.IndexFunc(All(), func(n metrics.Number) bool { return n.Name == name }); i >= 0 {
		return All()[i], true
	}
	n, known = catalogue.Find(name)
	return n, known && n.Name == name && (n.Latency != "" || strings.Contains(name, "/"))
}

// OfAdapter are the numbers of an adapter.
func OfAdapter(adapter string) []metrics.Number {
	var all []metrics.Number
	for _, n := range All() {
		if of, ok := catalogue.Find(adapter + "/" + n.Name); ok {
			all = append(all, of)
		}
	}
	return all
}
