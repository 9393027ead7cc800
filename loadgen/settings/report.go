package settings

import (
	"fmt"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/record"
)

// Report says what the Summaries of a run contain.
type Report struct {
	// Metrics are the latencies that a block prints: ttft, tpot, itl, e2el; nil means the first
	// three.
	Metrics []string

	// Percentiles are the percentiles to print of each of the Metrics, from 0 to 100; nil means 99.
	Percentiles []float64

	// Goodput are the limits that a good request keeps.
	Goodput []metrics.SLO

	// Price is what a GPU costs. GPUs is how many GPUs the server has;
	// 0 for one, unless the Metadata says.
	Price cost.Price
	GPUs  int

	// Definitions are the rules by which a release of vLLM counts answers; empty means the latest.
	Definitions record.Definitions

	// Label and Metadata name the run in result files. PartLabels says that the Label of a target
	// which is loaded without some others ends with Header.Part, as in openai-a-alone.
	Label      string
	PartLabels bool
	Metadata   []metrics.KV

	// Rule is how the sequential sweep that makes the run decides; nil for other runs.
	Rule *metrics.Rule
}

// Part marks the report of a target that is loaded without some others: alone, or with one other.
func (r *Report) Part(solo bool, with string) {
	h := metrics.Header{Solo: solo, With: with}
	if r.PartLabels {
		r.Label = fmt.Sprintf("%s-%s", r.Label, h.Part("-"))
	}
	kv := metrics.KV{Key: "with", Value: with}
	if solo {
		kv = metrics.KV{Key: "alone", Value: "true"}
	}
	r.Metadata = append(slices.Clone(r.Metadata), kv)
}
