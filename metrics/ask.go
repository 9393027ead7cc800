package metrics

import (
	"cmp"

	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/record"
)

// An Ask changes what a report contains. Its zero value leaves everything as the run had it.
type Ask struct {
	Metrics     []string   // --percentile-metrics
	Percentiles []float64  // --metric-percentiles
	Goodput     []SLO      // --goodput
	Price       cost.Price // --price; 0 leaves it
	NumGPUs     int        // --gpus; 0 leaves it
	Outcomes    bool       // keep Outcomes, for a detailed result file
	Timings     bool       // keep Timings, for any result file
	Trace       bool       // keep the Trace, which runs of a Group have in any case

	// Definitions are the rules to count by, if the stream has requests; empty for the run's.
	Definitions record.Definitions

	// Each is called with each request that a record stream holds, by what is known of its
	// run so far; nil for none. It must not keep the record or change it.
	Each func(*Header, *record.Record)
}

// Apply is a copy of h with the changes of a.
func (a Ask) Apply(h *Header) *Header {
	asked := *h
	if a.Metrics != nil {
		asked.Config.Metrics = a.Metrics
	}
	if a.Percentiles != nil {
		asked.Config.Percentiles = a.Percentiles
	}
	if a.Goodput != nil {
		asked.Config.Goodput = a.Goodput
	}
	asked.Config.Price = cmp.Or(a.Price, asked.Config.Price)
	asked.Config.NumGPUs = cmp.Or(a.NumGPUs, asked.Config.NumGPUs)
	return &asked
}
