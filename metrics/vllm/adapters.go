package vllm

import (
	"encoding/json"
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/pyjson"
)

// The members of the objects in the list "adapters" that servebench adds to a result file. Both
// directions share these tables.
var (
	adapterCounts = []count[adapters.Adapter]{
		{"completed", func(a *adapters.Adapter) *int { return &a.Completed }},
		{"failed", func(a *adapters.Adapter) *int { return &a.Failed }},
		{"input_tokens", func(a *adapters.Adapter) *int { return &a.Input }},
		{"output_tokens", func(a *adapters.Adapter) *int { return &a.Output }},
		{"good", func(a *adapters.Adapter) *int { return &a.Good }},
	}
	adapterRates = []rate[adapters.Adapter]{
		{"request_throughput", func(a *adapters.Adapter) *float64 { return &a.RequestThroughput }},
		{"output_throughput", func(a *adapters.Adapter) *float64 { return &a.OutputThroughput }},
		{"request_goodput", func(a *adapters.Adapter) *float64 { return &a.Goodput }},
	}
	adapterLatencies = []latency[adapters.Adapter]{
		{"ttft_ms", func(a *adapters.Adapter) *metrics.Distribution { return &a.TTFT }},
		{"tpot_ms", func(a *adapters.Adapter) *metrics.Distribution { return &a.TPOT }},
		{"e2el_ms", func(a *adapters.Adapter) *metrics.Distribution { return &a.E2EL }},
	}
)

// Adapters are the objects of the list "adapters" in a result file, which vLLM does not write. Unknown
// numbers are left out.
func Adapters(all []adapters.Adapter) []pyjson.Object {
	objects := make([]pyjson.Object, len(all))
	for i := range all {
		d := object{pyjson.Object{{Key: "name", Value: all[i].Name}}}
		setCounts(&d, &all[i], adapterCounts)
		setRates(&d, &all[i], adapterRates)
		setLatencies(&d, &all[i], adapterLatencies)
		objects[i] = d.Object
	}
	return objects
}

// readAdapters reads what Adapters writes. Other says that goodput is by other limits now.
func (f *resultFile) readAdapters(other bool) (all []adapters.Adapter) {
	var rows []json.RawMessage
	_ = json.Unmarshal(f.value("adapters"), &rows) // without it, there are none
	for _, raw := range rows {
		row := readObject(raw)
		if row == nil {
			break
		}
		a := adapters.Adapter{Name: row.text("name")}
		readCounts(row, &a, adapterCounts)
		readRates(row, &a, adapterRates)
		readLatencies(row, &a, adapterLatencies)
		if other {
			a.Goodput = math.NaN()
		}
		all = append(all, a)
	}
	return all
}
