// Package aspect lists the aspects of runs: each is one view of the measured requests, in a separate package.
//
// A new aspect is a package below and a line here. It adds requests and merges shards, and has a func Of that
// gives the aspect of a run to checks and reports. Package metrics knows none of them: whoever collects requests
// takes a Collector from here.
package aspect

import (
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/aspect/burst"
	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/endings"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/aspect/held"
	"github.com/servebench/servebench/metrics/aspect/late"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/loading"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/aspect/stalls"
	"github.com/servebench/servebench/metrics/aspect/tokens"
)

// all are all aspects.
var all = []*metrics.Kind{
	adapters.Kind,
	backlog.Kind,
	burst.Kind,
	connecting.Kind,
	counts.Kind,
	delivery.Kind,
	endings.Kind,
	failures.Kind,
	gpus.Kind,
	held.Kind,
	late.Kind,
	lengths.Kind,
	loading.Kind,
	pace.Kind,
	processes.Kind,
	prompts.Kind,
	reasoning.Kind,
	sessions.Kind,
	since.Kind,
	spans.Kind,
	stalls.Kind,
	tokens.Kind,
}

// Numbers are the numbers of all aspects.
func Numbers() (numbers []metrics.Number) {
	for _, k := range all {
		if k.Numbers != nil {
			numbers = append(numbers, k.Numbers()...)
		}
	}
	return numbers
}

// Collector is a metrics.Collector with all aspects.
func Collector(h *metrics.Header) *metrics.Collector { return metrics.NewCollector(h, all...) }
