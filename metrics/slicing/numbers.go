package slicing

import (
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
)

// A Number is one number of a Slice. Tables, result files and charts choose it by its key.
type Number struct {
	Key   string  // in a result file, with the unit
	Head  string  // of a column in two lines, with | between; empty if tables do not show it
	Times float64 // factor from the unit of a result file to the unit of tables and charts; 0 is 1
	Seen  bool    // the server or its GPUs reported it, also between two slices

	// Of is the value in a result file: an int, a float64, or a *float64 that is nil if nothing was reported.
	Of func(*metrics.Slice) any
}

// Value is the number as tables and charts show it; NaN if it is unknown.
func (n *Number) Value(s *metrics.Slice) float64 {
	v := math.NaN()
	switch of := n.Of(s).(type) {
	case int:
		v = float64(of)
	case float64:
		v = of
	case *float64:
		if of != nil {
			v = *of
		}
	}
	if n.Times != 0 {
		v *= n.Times
	}
	return v
}

// Numbers are all numbers of a Slice, in the order of result files. The columns of those with a Head that are not Seen
// fit into 120 columns.
func Numbers() []Number { return slices.Concat(ofRequests(), ofLatencies(), reported()) }

// Find is the number of that key.
func Find(key string) (n Number, known bool) {
	all := Numbers()
	if i := slices.IndexFunc(all, func(n Number) bool { return n.Key == key }); i >= 0 {
		return all[i], true
	}
	return n, false
}

func ofRequests() []Number {
	return []Number{
		{Key: "from_s", Head: "from|s", Of: func(s *metrics.Slice) any { return s.From.Seconds() }},
		{Key: "to_s", Of: func(s *metrics.Slice) any { return s.To.Seconds() }},
		{Key: "sent", Head: "|sent", Of: func(s *metrics.Slice) any { return s.Sent }},
		{Key: "completed", Head: "|completed", Of: func(s *metrics.Slice) any { return s.Completed }},
		{Key: "failed", Head: "|failed", Of: func(s *metrics.Slice) any { return s.Failed }},
		{Key: "mean_concurrency", Head: "in flight|mean", Of: func(s *metrics.Slice) any { return s.InFlight }},
		{Key: "input_tokens", Of: func(s *metrics.Slice) any { return s.Input }},
		{Key: "output_tokens", Of: func(s *metrics.Slice) any { return s.Output }},
		{Key: "output_throughput", Head: "output|" + string(metrics.TokensPerSecond),
			Of: func(s *metrics.Slice) any { return float64(s.Output) / s.Seconds() }},
	}
}

func ofLatencies() []Number {
	return slices.Concat(
		ofLatency("ttft", "|P99", func(s *metrics.Slice) metrics.Spread { return s.TTFT }),
		ofLatency("tpot", "|P99", func(s *metrics.Slice) metrics.Spread { return s.TPOT }),
		ofLatency("itl", "|P99", func(s *metrics.Slice) metrics.Spread { return s.ITL }),
		ofLatency("e2el", "", func(s *metrics.Slice) metrics.Spread { return s.E2EL }))
}

func ofLatency(name, tailHead string, of func(*metrics.Slice) metrics.Spread) []Number {
	return []Number{
		{Key: name + "_values", Of: func(s *metrics.Slice) any { return of(s).N }},
		{Key: "mean_" + name + "_ms", Head: metrics.Label(name) + " ms|mean",
			Of: func(s *metrics.Slice) any { return of(s).Mean }},
		{Key: "p99_" + name + "_ms", Head: tailHead, Of: func(s *metrics.Slice) any { return of(s).P99 }},
	}
}

// reported are what the server and its GPUs reported.
func reported() []Number {
	return []Number{
		seen("server_running", "running|mean", 1, func(s *metrics.Seen) *float64 { return s.Running }),
		seen("server_waiting", "waiting|mean", 1, func(s *metrics.Seen) *float64 { return s.Waiting }),
		seen("server_kv_cache", "KV cache|%", 100, func(s *metrics.Seen) *float64 { return s.KVCache }),
		seen("server_prefix_hits", "prefix hits|%", 100, func(s *metrics.Seen) *float64 { return s.PrefixHits }),
		seen("server_preemptions", "|preemptions", 1, func(s *metrics.Seen) *float64 { return s.Preemptions }),
		seen("server_gpu_memory_mib", "GPU memory|MiB", 1, func(s *metrics.Seen) *float64 { return s.GPUMemory }),
		seen("server_gpu_utilization", "GPU busy|%", 100, func(s *metrics.Seen) *float64 { return s.GPUUtilization }),
		seen("server_gpu_energy_j", "GPU energy|J", 1, func(s *metrics.Seen) *float64 { return s.GPUEnergy }),
		seen("server_gpu_power_w", "GPU power|W", 1, func(s *metrics.Seen) *float64 { return s.GPUPower }),
	}
}

func seen(key, head string, times float64, of func(*metrics.Seen) *float64) Number {
	return Number{Key: key, Head: head, Times: times, Seen: true, Of: func(s *metrics.Slice) any { return of(&s.Seen) }}
}
