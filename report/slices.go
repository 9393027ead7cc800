package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
)

// writeSlices writes the run in equal parts, one a line. If the server was sampled, it also writes
// what the server reported in each part, or in the whole run if there are no parts. It writes
// nothing for a Summary without either.
func writeSlices(w io.Writer, s *metrics.Summary) error {
	var b bytes.Buffer
	all := s.Slices
	switch {
	case len(all) > 0:
		width := math.Round(all[0].Seconds()*1000) / 1000
		fmt.Fprintf(&b, "\nIn slices of %s s\n", strconv.FormatFloat(width, 'f', -1, 64))
		shown := slices.DeleteFunc(slices.Clone(sliceColumns), func(c sliceColumn) bool { return c.head == "" })
		sliceTable(shown, all).text(&b)
	case s.Watched != nil:
		all = []metrics.Slice{*s.Watched}
	}
	seen := slices.DeleteFunc(slices.Clone(seenColumns), func(c sliceColumn) bool {
		return !slices.ContainsFunc(all, func(s metrics.Slice) bool { return c.text(&s) != "" })
	})
	if len(seen) > 0 {
		b.WriteString("\nThe server meanwhile\n")
		sliceTable(append(sliceColumns[:1:1], seen...), all).text(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// A sliceColumn is one number of each Slice.
type sliceColumn struct {
	key   string                   // in a result file, with the unit
	head  string                   // in a table, "" for a number that is only in the result file
	of    func(*metrics.Slice) any // an int, a float64, or a *float64 for what the server may report
	times float64                  // factor from the reported value to the table's
}

// sliceColumns are all numbers of a Slice. Those with a head fit into 120 columns.
var sliceColumns = slices.Concat([]sliceColumn{
	{key: "from_s", head: "from|s", of: func(s *metrics.Slice) any { return s.From.Seconds() }},
	{key: "to_s", of: func(s *metrics.Slice) any { return s.To.Seconds() }},
	{key: "sent", head: "|sent", of: func(s *metrics.Slice) any { return s.Sent }},
	{key: "completed", head: "|completed", of: func(s *metrics.Slice) any { return s.Completed }},
	{key: "failed", head: "|failed", of: func(s *metrics.Slice) any { return s.Failed }},
	{key: "mean_concurrency", head: "in flight|mean", of: func(s *metrics.Slice) any { return s.InFlight }},
	{key: "input_tokens", of: func(s *metrics.Slice) any { return s.Input }},
	{key: "output_tokens", of: func(s *metrics.Slice) any { return s.Output }},
	{key: "output_throughput", head: "output|tok/s",
		of: func(s *metrics.Slice) any { return float64(s.Output) / s.Seconds() }},
},
	latencyOfSlice("ttft", "|P99", func(s *metrics.Slice) metrics.Spread { return s.TTFT }),
	latencyOfSlice("tpot", "|P99", func(s *metrics.Slice) metrics.Spread { return s.TPOT }),
	latencyOfSlice("itl", "|P99", func(s *metrics.Slice) metrics.Spread { return s.ITL }),
	latencyOfSlice("e2el", "", func(s *metrics.Slice) metrics.Spread { return s.E2EL }))

func latencyOfSlice(name, tailHead string, of func(*metrics.Slice) metrics.Spread) []sliceColumn {
	return []sliceColumn{
		{key: name + "_values", of: func(s *metrics.Slice) any { return of(s).N }},
		{key: "mean_" + name + "_ms", head: metrics.Label(name) + " ms|mean",
			of: func(s *metrics.Slice) any { return of(s).Mean }},
		{key: "p99_" + name + "_ms", head: tailHead, of: func(s *metrics.Slice) any { return of(s).P99 }},
	}
}

// seenColumns are what the server and its GPUs reported.
var seenColumns = []sliceColumn{
	{"server_running", "running|mean", func(s *metrics.Slice) any { return s.Seen.Running }, 1},
	{"server_waiting", "waiting|mean", func(s *metrics.Slice) any { return s.Seen.Waiting }, 1},
	{"server_kv_cache", "KV cache|%", func(s *metrics.Slice) any { return s.Seen.KVCache }, 100},
	{"server_prefix_hits", "prefix hits|%", func(s *metrics.Slice) any { return s.Seen.PrefixHits }, 100},
	{"server_preemptions", "|preemptions", func(s *metrics.Slice) any { return s.Seen.Preemptions }, 1},
	{"server_gpu_memory_mib", "GPU memory|MiB", func(s *metrics.Slice) any { return s.Seen.GPUMemory }, 1},
	{"server_gpu_utilization", "GPU busy|%", func(s *metrics.Slice) any { return s.Seen.GPUUtilization }, 100},
	{"server_gpu_energy_j", "GPU energy|J", func(s *metrics.Slice) any { return s.Seen.GPUEnergy }, 1},
	{"server_gpu_power_w", "GPU power|W", func(s *metrics.Slice) any { return s.Seen.GPUPower }, 1},
}

// text is the number in a table, "" if unknown. A reported number that is whole is printed as such.
func (c *sliceColumn) text(s *metrics.Slice) string {
	switch v := c.of(s).(type) {
	case int:
		return vllm.Count(v)
	case float64:
		if c.key == "from_s" {
			return strconv.FormatFloat(v, 'f', 3, 64)
		}
		return decimal(v)
	case *float64:
		if v == nil {
			return ""
		}
		if told := *v * c.times; told != math.Trunc(told) {
			return decimal(told)
		}
		return strconv.FormatFloat(*v*c.times, 'f', 0, 64)
	}
	return ""
}

// sliceTable has a line for each Slice.
func sliceTable(columns []sliceColumn, all []metrics.Slice) *grid {
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	g := twoLined(0, heads...)
	for i := range all {
		var cells []string
		for _, c := range columns {
			cells = append(cells, orDash(c.text(&all[i])))
		}
		g.add(cells...)
	}
	return g
}

// sliceObjects are the objects of "slices" in a result file. Unknown numbers are null; numbers that
// the server did not report are left out.
func sliceObjects(all []metrics.Slice) []pyjson.Object {
	objects := []pyjson.Object{}
	for i := range all {
		var o pyjson.Object
		for _, c := range slices.Concat(sliceColumns, seenColumns) {
			switch v := c.of(&all[i]).(type) {
			case float64:
				o.Set(c.key, finite(v))
			case *float64:
				if v != nil {
					o.Set(c.key, *v)
				}
			default:
				o.Set(c.key, v)
			}
		}
		objects = append(objects, o)
	}
	return objects
}
