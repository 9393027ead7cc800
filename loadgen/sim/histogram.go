package sim

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Upper bounds of the histogram buckets, in seconds, as vLLM has them.
var (
	ttftBounds = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160,
		640, 2560}
	tokenBounds   = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// sizeBounds are 1, 2, 5, 10, 20, 50 … up to a limit.
func sizeBounds(limit int) []float64 {
	var bounds []float64
	for power := 1; power <= limit; power *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if digit*power <= limit {
				bounds = append(bounds, float64(digit*power))
			}
		}
	}
	return bounds
}

// A histogram counts values in buckets; it is one Prometheus metric.
type histogram struct {
	name, help string
	bounds     []float64
	counts     []uint64 // one more than bounds: the last is for larger values
	sum        float64
}

func newHistogram(name, help string, bounds []float64) *histogram {
	return &histogram{name: name, help: help, bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	h.counts[sort.SearchFloat64s(h.bounds, v)]++
	h.sum += v
}

// An exposition is the text that Prometheus scrapes. It prints numbers as Python does: 1.0, not 1.
type exposition struct {
	strings.Builder
	labels string // without braces
}

func (x *exposition) head(name, help, kind string) {
	x.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// sample writes one line; extra is another label, or empty.
func (x *exposition) sample(name, extra string, v float64) {
	labels := strings.Join(slices.DeleteFunc([]string{x.labels, extra}, func(s string) bool { return s == "" }), ",")
	x.WriteString(name + "{" + labels + "} " + pyFloat(v) + "\n")
}

func (x *exposition) metric(name, help, kind string, v float64) {
	x.head(name, help, kind)
	x.sample(name, "", v)
}

// process writes when the server started, under the name that Prometheus' clients use for it.
func (x *exposition) process(started time.Time) {
	const name = "process_start_time_seconds"
	x.head(name, "Start time of the process since the Unix epoch in seconds.", "gauge")
	x.WriteString(name + " " + pyFloat(float64(started.UnixNano())/1e9) + "\n")
}

func (x *exposition) histogram(h *histogram) {
	x.head(h.name, h.help, "histogram")
	var n uint64
	for i, bound := range h.bounds {
		n += h.counts[i]
		x.sample(h.name+"_bucket", `le="`+pyFloat(bound)+`"`, float64(n))
	}
	n += h.counts[len(h.bounds)]
	x.sample(h.name+"_bucket", `le="+Inf"`, float64(n))
	x.sample(h.name+"_count", "", float64(n))
	x.sample(h.name+"_sum", "", h.sum)
}

func pyFloat(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
