package report

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pool"
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
var pyTorchOmits = append([]string{"ttfts", "itls", "generated_texts", "errors", "server_queue_times", "server_ttfts"}, pyTorchMetrics...)

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
	rest := slices.DeleteFunc(slices.Clone(result), func(m pyjson.Member) bool { return slices.Contains(pyTorchOmits, m.Key) })
	var records []pyjson.Object
	for _, metric := range pyTorchMetrics {
		if value, ok := result.Get(metric); ok {
			records = append(records, pyjson.Object{
				{Key: "benchmark", Value: benchmark},
				{Key: "model", Value: pyjson.Object{{Key: "name", Value: model}}},
				{Key: "metric", Value: pyjson.Object{
					{Key: "name", Value: metric}, {Key: "benchmark_values", Value: []any{value}}, {Key: "extra_info", Value: infAsText(rest)},
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

// hgrmTicks is the number of percentiles for each halving of the distance to 100 %, as in
// HdrHistogram's tools.
const hgrmTicks = 5

// Hgrm writes the percentiles of a latency, in milliseconds, in the format that HdrHistogram's
// tools plot. It writes nothing without samples.
func Hgrm(w io.Writer, d *metrics.Distribution) error {
	if d.Len() == 0 {
		return nil
	}
	var b bytes.Buffer
	if _, err := d.Histogram().PercentilesPrint(&b, hgrmTicks, float64(time.Millisecond)); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// JSON writes a result file as vLLM does: its keys in its order, on one line without a line end,
// formatted as Python's json.dumps. It has the arrays of --save-detailed if the Summary has
// Outcomes, and latencies and queue_times if it has Timings. Version v decides the keys. Unknown
// settings of the run are null, other unknown numbers are left out. Our own members follow at the
// end, if the Summary has them: "truth", "sessions", "adapters", "run_id", "server", "interrupted", "stopped_by",
// "incomplete", "trust", "window", "slices", "memory", "wake" and "waterfall".
func JSON(w io.Writer, s *metrics.Summary, v vllm.Version) error {
	_, err := w.Write(pyjson.Append(nil, result(s, v)))
	return err
}

// result is the object in a result file.
func result(s *metrics.Summary, v vllm.Version) pyjson.Object {
	o := vllm.Result(s, v)
	if s.Truth != nil {
		o.Set("truth", truth(s))
	}
	if s.Sessions != nil {
		o.Set("sessions", vllm.Sessions(s.Sessions))
	}
	if s.Adapters != nil {
		o.Set("adapters", vllm.Adapters(s.Adapters))
	}
	if s.Truth != nil && s.Header.Run != "" {
		o.Set("run_id", s.Header.Run)
	}
	if start := s.Start(); start != nil {
		o.Set("server", startObject(start))
	}
	if s.Interrupted {
		o.Set("interrupted", true)
	}
	if s.StoppedBy != "" {
		o.Set("stopped_by", s.StoppedBy)
	}
	if len(s.Incomplete) > 0 {
		o.Set("incomplete", s.Incomplete)
	}
	if s.Trust != nil {
		o.Set("trust", trustObject(s.Trust))
	}
	if s.Window != nil {
		o.Set("window", windowObject(s.Window))
	}
	if s.Slices != nil {
		o.Set("slices", sliceObjects(s.Slices))
	}
	if c := pool.Of(s); c != nil {
		o.Set("memory", memoryObject(c))
	}
	if w := s.Header.Wake; w != nil {
		o.Set("wake", pyjson.Object{
			{Key: "level", Value: w.Level}, {Key: "sleep_ms", Value: metrics.Milliseconds(w.Sleep)},
			{Key: "ready_ms", Value: metrics.Milliseconds(w.Ready)}, {Key: "first_token_ms", Value: metrics.Milliseconds(w.FirstToken)},
		})
	}
	if s.Spans != nil {
		o.Set("waterfall", waterfallObject(s))
	}
	return o
}

// startObject is the object "server" of a result file: which start of the server the run measured.
func startObject(s *metrics.ServerStart) pyjson.Object {
	o := pyjson.Object{{Key: "id", Value: s.ID}, {Key: "by", Value: s.By}}
	if !s.Began.IsZero() {
		o.Set("began", s.Began.UTC().Format(time.RFC3339Nano))
	}
	setSome(&o, "pid", s.PID)
	if s.Version != "" {
		o.Set("version", s.Version)
	}
	return o
}
