// Package exposition writes the text that Prometheus scrapes, as vLLM's server does. It prints numbers as
// Python does: 1.0, not 1.
//
// What counts knows its own names and labels: this package only spells them.
package exposition

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// A Text is what Prometheus scrapes, as far as it is written.
type Text struct {
	Labels string // of every metric, without braces

	strings.Builder
}

// Head begins a metric of a kind: counter, gauge or histogram.
func (x *Text) Head(name, help, kind string) {
	x.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

// Sample writes one line; extra is another label, or empty.
func (x *Text) Sample(name, extra string, v float64) {
	labels := strings.Join(slices.DeleteFunc([]string{x.Labels, extra}, func(s string) bool { return s == "" }), ",")
	x.WriteString(name + "{" + labels + "} " + pyFloat(v) + "\n")
}

// Metric writes a metric that has one line.
func (x *Text) Metric(name, help, kind string, v float64) {
	x.Head(name, help, kind)
	x.Sample(name, "", v)
}

// Started writes when the server started, under the name that Prometheus' clients use for it.
func (x *Text) Started(started time.Time) {
	const name = "process_start_time_seconds"
	x.Head(name, "Start time of the process since the Unix epoch in seconds.", "gauge")
	x.WriteString(name + " " + pyFloat(float64(started.UnixNano())/1e9) + "\n")
}

// Histogram writes a histogram: its buckets, how many values it has, and their sum.
func (x *Text) Histogram(h *Histogram) {
	x.Head(h.name, h.help, "histogram")
	var n uint64
	for i, bound := range h.bounds {
		n += h.counts[i]
		x.Sample(h.name+"_bucket", `le="`+pyFloat(bound)+`"`, float64(n))
	}
	n += h.counts[len(h.bounds)]
	x.Sample(h.name+"_bucket", `le="+Inf"`, float64(n))
	x.Sample(h.name+"_count", "", float64(n))
	x.Sample(h.name+"_sum", "", h.sum)
}

func pyFloat(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// A Histogram counts values in buckets; it is one Prometheus metric. It is not safe for concurrent use.
type Histogram struct {
	name, help string
	bounds     []float64
	counts     []uint64 // one more than bounds: the last is for larger values
	sum        float64
}

// NewHistogram makes a histogram of nothing, with the upper bounds of its buckets ascending.
func NewHistogram(name, help string, bounds []float64) *Histogram {
	return &Histogram{name: name, help: help, bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

// Observe counts a value.
func (h *Histogram) Observe(v float64) {
	h.counts[sort.SearchFloat64s(h.bounds, v)]++
	h.sum += v
}
