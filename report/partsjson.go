package report

import (
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// window is the object of that name in a result file: the numbers of a part of
// the run under the keys that they have for the whole.
func window(s *metrics.Summary) pyjson.Object {
	var d dict
	d.set("from_s", s.Part.From.Seconds())
	d.set("to_s", s.Part.To.Seconds())
	d.set("steady", s.Part.Steady)
	d.set("requests", s.Part.Requests)
	d.set("requests_inside", s.Part.Inside)
	d.set("requests_crossing", s.Part.Crossing)
	partNumbers(&d, s)
	d.set("truth", truth(s))
	return d.Object
}

// sliced are the objects of "slices" in a result file. What is not known is null.
func sliced(all []metrics.Slice) []pyjson.Object {
	objects := []pyjson.Object{}
	for i := range all {
		s := &all[i]
		var d dict
		d.set("from_s", s.From.Seconds())
		d.set("to_s", s.To.Seconds())
		d.set("sent", s.Sent)
		d.set("completed", s.Completed)
		d.set("failed", s.Failed)
		d.set("mean_concurrency", s.InFlight)
		d.set("input_tokens", s.Input)
		d.set("output_tokens", s.Output)
		d.set("output_throughput", float64(s.Output)/s.Seconds())
		for _, latency := range []struct {
			name string
			of   metrics.Spread
		}{{"ttft", s.TTFT}, {"tpot", s.TPOT}, {"itl", s.ITL}, {"e2el", s.E2EL}} {
			d.set(latency.name+"_values", latency.of.N)
			d.set("mean_"+latency.name+"_ms", finite(latency.of.Mean))
			d.set("p99_"+latency.name+"_ms", finite(latency.of.P99))
		}
		for _, seen := range []struct {
			name string
			v    *float64
		}{
			{"running", s.Seen.Running}, {"waiting", s.Seen.Waiting}, {"kv_cache", s.Seen.KVCache},
			{"prefix_hits", s.Seen.PrefixHits}, {"preemptions", s.Seen.Preemptions},
			{"gpu_memory_mib", s.Seen.GPUMemory}, {"gpu_utilization", s.Seen.GPUUtilization}, {"gpu_power_w", s.Seen.GPUPower},
		} {
			if seen.v != nil {
				d.set("server_"+seen.name, *seen.v)
			}
		}
		objects = append(objects, d.Object)
	}
	return objects
}
