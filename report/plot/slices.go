package plot

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/slicing"
)

// How many Slices a chart shows, and how short they are unless the user chooses.
const (
	fewSlices  = 60
	mostSlices = 400
	leastSlice = 100 * time.Millisecond
)

// A quantity is one number of a Slice, or one that the server or its GPUs reported at a
// Moment. It is NaN where unknown.
type quantity struct {
	name string
	of   func(*metrics.Slice) float64
	seen func(*metrics.Seen) float64
}

// A history is a chart of quantities over the time of a run. Several runs are compared by
// the first quantity.
type history struct {
	name, title, axis string
	style             Style // of the numbers of slices; reported numbers are a Line
	quantities        []quantity
}

var histories = []history{
	{"throughput", "Output throughput", "Output throughput (tok/s)", Step, []quantity{
		{name: "output tokens", of: func(s *metrics.Slice) float64 { return float64(s.Output) / s.Seconds() }}}},
	{"requests", "Requests sent and ended", "Request rate (req/s)", Step, []quantity{
		{name: "completed", of: func(s *metrics.Slice) float64 { return float64(s.Completed) / s.Seconds() }},
		{name: "sent", of: func(s *metrics.Slice) float64 { return float64(s.Sent) / s.Seconds() }},
		{name: "failed", of: func(s *metrics.Slice) float64 { return orUnknown(float64(s.Failed) / s.Seconds()) }}}},
	{"concurrency", "Concurrency", "Requests", Step, []quantity{
		{name: "in flight", of: func(s *metrics.Slice) float64 { return s.InFlight }},
		{name: "running on the server", seen: func(s *metrics.Seen) float64 { return value(s.Running, 1) }},
		{name: "waiting on the server", seen: func(s *metrics.Seen) float64 { return value(s.Waiting, 1) }}}},
	{"ttft", "TTFT over time", "TTFT (ms)", Line, []quantity{
		{name: "mean", of: func(s *metrics.Slice) float64 { return s.TTFT.Mean }},
		{name: "P99", of: func(s *metrics.Slice) float64 { return s.TTFT.P99 }}}},
	{"itl", "ITL over time", "ITL (ms)", Line, []quantity{
		{name: "mean", of: func(s *metrics.Slice) float64 { return s.ITL.Mean }},
		{name: "P99", of: func(s *metrics.Slice) float64 { return s.ITL.P99 }}}},
	{"kv-cache", "Caches on the server", "Share (%)", Line, []quantity{
		{name: "KV cache in use", seen: func(s *metrics.Seen) float64 { return value(s.KVCache, 100) }},
		{name: "prompt tokens in the prefix cache",
			seen: func(s *metrics.Seen) float64 { return value(s.PrefixHits, 100) }}}},
	{"preemptions", "Preemptions", "Preemptions since the server was asked before", Line, []quantity{
		{name: "preemptions", seen: func(s *metrics.Seen) float64 { return value(s.Preemptions, 1) }}}},
	{"gpu", "GPU utilisation", "Share of the time (%)", Line, []quantity{
		{name: "a kernel ran", seen: func(s *metrics.Seen) float64 { return value(s.GPUUtilization, 100) }}}},
	{"gpu-memory", "GPU memory", "Memory in use (GiB)", Line, []quantity{
		{name: "all GPUs", seen: func(s *metrics.Seen) float64 { return value(s.GPUMemory, 1.0/1024) }}}},
	{"gpu-power", "GPU power", "Power (W)", Line, []quantity{
		{name: "all GPUs", seen: func(s *metrics.Seen) float64 { return value(s.GPUPower, 1) }}}},
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

// A course is a run over time.
type course struct {
	name    string
	color   int // among several runs
	slices  []metrics.Slice
	moments []slicing.Moment
}

// overTime makes charts of the runs over time. A single run has a line for each quantity.
// Several runs have a line each for the first quantity. A run without a Trace has no lines.
func overTime(runs []Run) (charts []Chart) {
	longest := 0.0
	for _, r := range runs {
		longest = max(longest, r.Seconds)
	}
	colors := colors(runs)
	courses := make([]course, len(runs))
	for i, r := range runs {
		courses[i] = course{seriesName(runs, i), colors[i], parts(r.Summary, longest), slicing.Moments(r.Summary)}
	}
	for _, h := range histories {
		if c := h.chart(courses); c.Series != nil {
			charts = append(charts, c)
		}
	}
	return append(charts, memory(runs, colors)...)
}

func (h *history) chart(courses []course) Chart {
	c := Chart{Name: h.name, Title: h.title, X: Axis{Title: "Time since the start (s)"}, Y: Axis{Title: h.axis}}
	shown := h.quantities
	if len(courses) > 1 {
		shown = shown[:1]
		c.Title = h.title + ": " + shown[0].name
	}
	cut, heard := "", ""
	for _, run := range courses {
		for k, q := range shown {
			s := Series{Name: q.name, Style: h.style, Color: k}
			if len(courses) > 1 {
				s.Name, s.Color = run.name, run.color
			}
			if q.seen != nil {
				s.hear(run.moments, q)
			} else {
				s.follow(run.slices, q)
			}
			switch {
			case !s.known():
				continue
			case q.seen != nil:
				heard = "The server's numbers are drawn at the times of its reports."
			default:
				cut = widths(courses)
			}
			c.Series = append(c.Series, s)
		}
	}
	c.Note = strings.TrimSpace(cut + " " + heard)
	c.fit(true)
	return c
}

// follow adds a point in the middle of each slice. A line with steps has a point where
// each slice begins, and where the last one ends.
func (s *Series) follow(cut []metrics.Slice, q quantity) {
	for i := range cut {
		at := cut[i].From.Seconds()
		if s.Style != Step {
			at += cut[i].Seconds() / 2
		}
		s.add(at, q.of(&cut[i]))
	}
	if n := len(cut); n > 0 && s.Style == Step {
		s.add(cut[n-1].To.Seconds(), s.Y[n-1])
	}
}

// hear adds a point for each report of the quantity, and a gap where the server did not
// answer.
func (s *Series) hear(moments []slicing.Moment, q quantity) {
	s.Style = Line
	for i := range moments {
		if v := q.seen(&moments[i].Seen); finite(v) || moments[i].Failed {
			s.add(moments[i].At.Seconds(), v)
		}
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
	cut, err := slicing.Slice(s, max(width, leastSlice))
	if err != nil {
		return nil
	}
	return cut
}

// widths says how long the slices are.
func widths(courses []course) string {
	text := ""
	for _, run := range courses {
		if len(run.slices) == 0 {
			continue
		}
		width := (run.slices[0].To - run.slices[0].From).Round(time.Millisecond).String()
		if text != "" && text != width {
			return "Slices are of different lengths."
		}
		text = width
	}
	return fmt.Sprintf("In slices of %s.", text)
}
