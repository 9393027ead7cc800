package plot

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
)

// How many Slices a chart shows, and how short they are unless the user chose.
const (
	fewSlices  = 60
	mostSlices = 400
	leastSlice = 100 * time.Millisecond
)

// A quantity is one number of a Slice, NaN where unknown.
type quantity struct {
	name string
	of   func(*metrics.Slice) float64
}

// A history is a chart of quantities over the time of a run. Several runs are compared by
// the first quantity.
type history struct {
	name, title, axis string
	style             Style
	quantities        []quantity
}

var histories = []history{
	{"throughput", "Output throughput", "Output throughput (tok/s)", Step, []quantity{
		{"output tokens", func(s *metrics.Slice) float64 { return float64(s.Output) / s.Seconds() }}}},
	{"requests", "Requests sent and ended", "Request rate (req/s)", Step, []quantity{
		{"completed", func(s *metrics.Slice) float64 { return float64(s.Completed) / s.Seconds() }},
		{"sent", func(s *metrics.Slice) float64 { return float64(s.Sent) / s.Seconds() }},
		{"failed", func(s *metrics.Slice) float64 { return orUnknown(float64(s.Failed) / s.Seconds()) }}}},
	{"concurrency", "Concurrency", "Requests", Step, []quantity{
		{"in flight", func(s *metrics.Slice) float64 { return s.InFlight }},
		{"running on the server", func(s *metrics.Slice) float64 { return value(s.Seen.Running, 1) }},
		{"waiting on the server", func(s *metrics.Slice) float64 { return value(s.Seen.Waiting, 1) }}}},
	{"ttft", "TTFT over time", "TTFT (ms)", Line, []quantity{
		{"mean", func(s *metrics.Slice) float64 { return s.TTFT.Mean }},
		{"P99", func(s *metrics.Slice) float64 { return s.TTFT.P99 }}}},
	{"itl", "ITL over time", "ITL (ms)", Line, []quantity{
		{"mean", func(s *metrics.Slice) float64 { return s.ITL.Mean }},
		{"P99", func(s *metrics.Slice) float64 { return s.ITL.P99 }}}},
	{"kv-cache", "Caches on the server", "Share (%)", Line, []quantity{
		{"KV cache in use", func(s *metrics.Slice) float64 { return value(s.Seen.KVCache, 100) }},
		{"prompt tokens in the prefix cache", func(s *metrics.Slice) float64 { return value(s.Seen.PrefixHits, 100) }}}},
	{"preemptions", "Preemptions", "Preemptions a slice", Step, []quantity{
		{"preemptions", func(s *metrics.Slice) float64 { return value(s.Seen.Preemptions, 1) }}}},
	{"gpu", "GPU utilisation", "Share of the time (%)", Line, []quantity{
		{"a kernel ran", func(s *metrics.Slice) float64 { return value(s.Seen.GPUUtilization, 100) }}}},
	{"gpu-memory", "GPU memory", "Memory in use (GiB)", Line, []quantity{
		{"all GPUs", func(s *metrics.Slice) float64 { return value(s.Seen.GPUMemory, 1.0/1024) }}}},
	{"gpu-power", "GPU power", "Power (W)", Line, []quantity{
		{"all GPUs", func(s *metrics.Slice) float64 { return value(s.Seen.GPUPower, 1) }}}},
}

func value(v *float64, factor float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v * factor
}

// orUnknown is NaN for 0, to leave out what never happened.
func orUnknown(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// overTime are charts of the runs over time, slice by slice. A single run has a line for
// each quantity, several runs a line each for the first quantity. There are none without a
// Trace.
func overTime(runs []Run) []Chart {
	longest := 0.0
	for _, r := range runs {
		longest = max(longest, r.Seconds)
	}
	sliced := make([][]metrics.Slice, len(runs))
	for i := range runs {
		sliced[i] = parts(runs[i].Summary, longest)
	}
	var charts []Chart
	for _, h := range histories {
		c := Chart{Name: h.name, Title: h.title, X: Axis{Title: "Time since the start (s)"}, Y: Axis{Title: h.axis}}
		for i, slices := range sliced {
			shown := h.quantities
			if len(runs) > 1 {
				shown = shown[:1]
				c.Title = h.title + ": " + shown[0].name
			}
			for k, q := range shown {
				s := Series{Name: q.name, Style: h.style, Color: k}
				if len(runs) > 1 {
					s.Name, s.Color = runs[i].Name(), i
				}
				s.follow(slices, q)
				if s.known() {
					c.Series = append(c.Series, s)
				}
			}
		}
		if len(c.Series) == 0 {
			continue
		}
		c.Note = widths(sliced)
		c.fit(true)
		charts = append(charts, c)
	}
	return charts
}

// follow adds a point in the middle of each slice. A line with steps has a point where
// each slice begins, and where the last one ends.
func (s *Series) follow(slices []metrics.Slice, q quantity) {
	for i := range slices {
		at := slices[i].From.Seconds()
		if s.Style != Step {
			at += slices[i].Seconds() / 2
		}
		s.add(at, q.of(&slices[i]))
	}
	if n := len(slices); n > 0 && s.Style == Step {
		s.add(slices[n-1].To.Seconds(), s.Y[n-1])
	}
}

// parts are the run's Slices. If it has none or too many, parts cuts others, of which a
// run of the longest duration has few.
func parts(s *metrics.Summary, longest float64) []metrics.Slice {
	if len(s.Slices) > 0 && len(s.Slices) <= mostSlices {
		return s.Slices
	}
	if s.Trace == nil || !(s.Seconds > 0) {
		return nil
	}
	width := time.Duration(even(longest/fewSlices) * float64(time.Second))
	// These are too few for Slice to refuse.
	slices, err := s.Slice(max(width, leastSlice))
	if err != nil {
		return nil
	}
	return slices
}

// widths says how long the slices are.
func widths(sliced [][]metrics.Slice) string {
	text := ""
	for _, slices := range sliced {
		if len(slices) == 0 {
			continue
		}
		width := (slices[0].To - slices[0].From).Round(time.Millisecond).String()
		if text != "" && text != width {
			return "Slices are of different lengths."
		}
		text = width
	}
	return fmt.Sprintf("In slices of %s.", text)
}
