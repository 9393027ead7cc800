package report

import (
	"io"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// pyTorchMetrics each get a record in the PyTorch file, in this order.
var pyTorchMetrics = []string{
	"median_ttft_ms", "mean_ttft_ms", "std_ttft_ms", "p99_ttft_ms",
	"mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p99_tpot_ms",
	"median_itl_ms", "mean_itl_ms", "std_itl_ms", "p99_itl_ms",
}

// pyTorchOmits are keys of the result file that no record has.
var pyTorchOmits = append([]string{"ttfts", "itls", "generated_texts", "errors", "server_queue_times", "server_ttfts"},
	pyTorchMetrics...)

// PyTorch writes vLLM's second file, for PyTorch's benchmarks: a list with a record for each
// statistic of TTFT, TPOT and ITL in the result file, on one line without a line end. It writes
// nothing if there are none. args are the arguments of the command line; name is the name of the
// result file, empty if there is none.
func PyTorch(w io.Writer, s *metrics.Summary, v vllm.Version, args pyjson.Object, name string) error {
	result := vllm.Result(s, v)
	of := func(key string) any {
		if value, ok := result.Get(key); ok {
			return value
		}
		return ""
	}
	if size, ok := result.Get("tensor_parallel_size"); ok {
		args = slices.Clone(args).With("tensor_parallel_size", size)
	}
	benchmark := pyjson.Object{
		{Key: "name", Value: "vLLM benchmark"},
		{Key: "extra_info", Value: pyjson.Object{
			{Key: "args", Value: infAsText(args)},
			{Key: "compilation_config.mode", Value: of("compilation_config.mode")},
			{Key: "optimization_level", Value: of("optimization_level")},
			{Key: "use_compile", Value: of("compilation_config.mode") != "0" && !strings.Contains(name, "eager")},
		}},
	}
	model, _ := args.Get("model")
	rest := slices.DeleteFunc(slices.Clone(result),
		func(m pyjson.Member) bool { return slices.Contains(pyTorchOmits, m.Key) })
	var records []pyjson.Object
	for _, metric := range pyTorchMetrics {
		if value, ok := result.Get(metric); ok {
			records = append(records, pyjson.Object{
				{Key: "benchmark", Value: benchmark},
				{Key: "model", Value: pyjson.Object{{Key: "name", Value: model}}},
				{Key: "metric", Value: pyjson.Object{
					{Key: "name", Value: metric}, {Key: "benchmark_values", Value: []any{value}},
					{Key: "extra_info", Value: infAsText(rest)},
				}},
			})
		}
	}
	if records == nil {
		return nil
	}
	_, err := w.Write(pyjson.Append(nil, records))
	return err
}

// infAsText is o with the text inf instead of infinite numbers.
func infAsText(o pyjson.Object) pyjson.Object {
	o = slices.Clone(o)
	for i := range o {
		if v, ok := o[i].Value.(float64); ok && math.IsInf(v, 1) {
			o[i].Value = "inf"
		}
	}
	return o
}
