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
// Moment.
type quantity struct {
	name  string
	key   string  // of the number
	rate  bool    // the number a second
	rare  bool    // 0 is left out
	times float64 // factor to the unit of the axis; 0 is 1
}

// of gives the quantity of a slice, NaN where it is unknown. seen says that the server or its GPUs reported it.
func (q *quantity) of() (value func(*metrics.Slice) float64, seen bool) {
	n, _ := slicing.Find(q.key)
	return func(s *metrics.Slice) float64 {
		v := n.Value(s)
		if q.rate {
			v /= s.Seconds()
		}
		if q.times != 0 {
			v *= q.times
		}
		if q.rare && v == 0 {
			return math.NaN()
		}
		return v
	}, n.Seen
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
		{name: "output tokens", key: "output_throughput"}}},
	{"requests", "Requests sent and ended", "Request rate (req/s)", Step, []quantity{
		{name: "completed", key: "completed", rate: true}, {name: "sent", key: "sent", rate: true},
		{name: "failed", key: "failed", rate: true, rare: true}}},
	{"concurrency", "Concurrency", "Requests", Step, []quantity{
		{name: "in flight", key: "mean_concurrency"}, {name: "running on the server", key: "server_running"},
		{name: "waiting on the server", key: "server_waiting"}}},
	{"ttft", "TTFT over time", "TTFT (ms)", Line, []quantity{
		{name: "mean", key: "mean_ttft_ms"}, {name: "P99", key: "p99_ttft_ms"}}},
	{"itl", "ITL over time", "ITL (ms)", Line, []quantity{
		{name: "mean", key: "mean_itl_ms"}, {name: "P99", key: "p99_itl_ms"}}},
	{"kv-cache", "Caches on the server", "Share (%)", Line, []quantity{
		{name: "KV cache in use", key: "server_kv_cache"},
		{name: "prompt tokens in the prefix cache", key: "server_prefix_hits"}}},
	{"preemptions", "Preemptions", "Preemptions since the server was asked before", Line, []quantity{
		{name: "preemptions", key: "server_preemptions"}}},
	{"gpu", "GPU utilisation", "Share of the time (%)", Line, []quantity{
		{name: "a kernel ran", key: "server_gpu_utilization"}}},
	{"gpu-memory", "GPU memory", "Memory in use (GiB)", Line, []quantity{
		{name: "all GPUs", key: "server_gpu_memory_mib", times: 1.0 / 1024}}},
	{"gpu-power", "GPU power", "Power (W)", Line, []quantity{
		{name: "all GPUs", key: "server_gpu_power_w"}}},
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
		longest = max(longest, r.Summary.When.Seconds)
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
			value, seen := q.of()
			if seen {
				s.hear(run.moments, value)
			} else {
				s.follow(run.slices, value)
			}
			switch {
			case !s.known():
				continue
			case seen:
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
func (s *Series) follow(cut []metrics.Slice, value func(*metrics.Slice) float64) {
	for i := range cut {
		at := cut[i].From.Seconds()
		if s.Style != Step {
			at += cut[i].Seconds() / 2
		}
		s.add(at, value(&cut[i]))
	}
	if n := len(cut); n > 0 && s.Style == Step {
		s.add(cut[n-1].To.Seconds(), s.Y[n-1])
	}
}

// hear adds a point for each report of the quantity, and a gap where the server did not
// answer.
func (s *Series) hear(moments []slicing.Moment, value func(*metrics.Slice) float64) {
	s.Style = Line
	for i := range moments {
		if v := value(&metrics.Slice{Seen: moments[i].Seen}); finite(v) || moments[i].Failed {
			s.add(moments[i].At.Seconds(), v)
		}
	}
}

// parts are the run's Slices. If it has none or too many, parts cuts others, of which a
// run of the longest duration has few.
func parts(s *metrics.Summary, longest float64) []metrics.Slice {
	if len(s.Parts.Slices) > 0 && len(s.Parts.Slices) <= mostSlices {
		return s.Parts.Slices
	}
	if s.Kept.Trace == nil || !(s.When.Seconds > 0) {
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
