package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pool"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/screen"
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
	{key: "output_throughput", head: "output|tok/s", of: func(s *metrics.Slice) any { return float64(s.Output) / s.Seconds() }},
},
	latencyOfSlice("ttft", "|P99", func(s *metrics.Slice) metrics.Spread { return s.TTFT }),
	latencyOfSlice("tpot", "|P99", func(s *metrics.Slice) metrics.Spread { return s.TPOT }),
	latencyOfSlice("itl", "|P99", func(s *metrics.Slice) metrics.Spread { return s.ITL }),
	latencyOfSlice("e2el", "", func(s *metrics.Slice) metrics.Spread { return s.E2EL }))

func latencyOfSlice(name, tailHead string, of func(*metrics.Slice) metrics.Spread) []sliceColumn {
	return []sliceColumn{
		{key: name + "_values", of: func(s *metrics.Slice) any { return of(s).N }},
		{key: "mean_" + name + "_ms", head: strings.ToUpper(name) + " ms|mean", of: func(s *metrics.Slice) any { return of(s).Mean }},
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

// Adapters writes a line for each LoRA adapter that requests asked for. It writes nothing without
// adapters.
func Adapters(w io.Writer, s *metrics.Summary) error {
	if s.Adapters == nil {
		return nil
	}
	p, marked := tailOf(s), false
	tail, beyond := "P"+metrics.FormatPercentile(p), marking(p, &marked)
	known := func(v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return decimal(v)
	}
	generates := slices.ContainsFunc(s.Adapters, func(a metrics.Adapter) bool { return a.Output > 0 })
	output := func(a *metrics.Adapter) string {
		if !generates {
			return ""
		}
		return known(a.OutputThroughput)
	}
	some := func(n int) string {
		if n == 0 {
			return ""
		}
		return vllm.Count(n)
	}
	g := twoLined(1, "|adapter", "|completed", "|failed", "|req/s", "good|req/s", "output|tok/s", "TTFT ms|median", "|"+tail, "TPOT ms|median", "E2EL ms|median", "|"+tail)
	for i := range s.Adapters {
		a := &s.Adapters[i]
		g.add(screen.Cut(a.Name, adapterWidth), vllm.Count(a.Completed), some(a.Failed), known(a.RequestThroughput), known(a.Goodput), output(a),
			middle(&a.TTFT), beyond(&a.TTFT), middle(&a.TPOT), middle(&a.E2EL), beyond(&a.E2EL))
	}
	var b bytes.Buffer
	b.WriteString("\nLoRA adapters\n")
	g.text(&b)
	if marked {
		fmt.Fprintln(&b, few, fewMeans)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// adapterWidth is how many columns the name of an adapter has at most.
const adapterWidth = 24

// writeWake writes how long the server took to wake up before the load; nothing if it did not sleep.
func writeWake(w io.Writer, s *metrics.Summary) error {
	k := s.Header.Wake
	if k == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nSleep level %d before the load: asleep after %.3f s; awake %.3f s after the wake-up call, first token after %.3f s\n",
		k.Level, k.Sleep.Seconds(), k.Ready.Seconds(), k.FirstToken.Seconds())
	return err
}

// writeMemory writes what the server's pool of GPU memory held, how fast it took and returned memory,
// and what the first requests after that paid. It writes nothing without samples of a pool.
func writeMemory(w io.Writer, s *metrics.Summary) error {
	c := pool.Of(s)
	if c == nil {
		return nil
	}
	var b bytes.Buffer
	least, most := c.Range()
	fmt.Fprintf(&b, "\nkvcached pool %s: limit %s, held %s to %s, %s on average\n",
		c.Name, mebibytes(float64(c.Limit)), mebibytes(float64(least)), mebibytes(float64(most)), mebibytes(c.Mean()))
	moved(&b, "took", c.Taken())
	moved(&b, "returned", c.Returned())
	if p := c.Paid(); p.First > 0 && p.Rest > 0 {
		fmt.Fprintf(&b, "  mean TTFT of the first %s after it began to take: %s ms; of the other %d: %s ms\n",
			metrics.Counted(p.First, "request"), decimal(metrics.Milliseconds(p.MeanFirst)), p.Rest, decimal(metrics.Milliseconds(p.MeanRest)))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// moved writes a move of a pool; nothing if there was none.
func moved(b *bytes.Buffer, verb string, m pool.Move) {
	if m.Bytes > 0 {
		fmt.Fprintf(b, "  %s %s from %.2f s on: 90 %% in %.2f s, %s/s\n",
			verb, mebibytes(float64(m.Bytes)), m.From.Seconds(), m.To90.Seconds(), mebibytes(m.Rate()))
	}
}

func mebibytes(n float64) string { return decimal(n/pool.MiB) + " MiB" }

// memoryObject is the object "memory" of a result file.
func memoryObject(c *pool.Course) pyjson.Object {
	least, most := c.Range()
	o := pyjson.Object{
		{Key: "pool", Value: c.Name}, {Key: "limit_mib", Value: inMiB(c.Limit)},
		{Key: "least_mib", Value: inMiB(least)}, {Key: "most_mib", Value: inMiB(most)}, {Key: "mean_mib", Value: c.Mean() / pool.MiB},
	}
	for _, move := range []struct {
		key string
		pool.Move
	}{{"taken", c.Taken()}, {"returned", c.Returned()}} {
		if m := move.Move; m.Bytes > 0 {
			o = o.With(move.key, pyjson.Object{
				{Key: "mib", Value: inMiB(m.Bytes)}, {Key: "from_s", Value: m.From.Seconds()},
				{Key: "to_90_percent_s", Value: m.To90.Seconds()}, {Key: "mib_per_s", Value: m.Rate() / pool.MiB},
			})
		}
	}
	if p := c.Paid(); p.First > 0 {
		o = o.With("first_requests", p.First).With("mean_first_ttft_ms", metrics.Milliseconds(p.MeanFirst))
		if p.Rest > 0 {
			o = o.With("other_requests", p.Rest).With("mean_other_ttft_ms", metrics.Milliseconds(p.MeanRest))
		}
	}
	return o
}

func inMiB(n int64) float64 { return float64(n) / pool.MiB }
