// Package catalogue has all numbers of a run: the core of every Summary, the statistics of latencies, and what aspects
// add. Each is a row with its names, its unit and its formula.
//
// Whoever shows, compares, draws or gates numbers chooses rows by their names. A number that is computed from what
// a Summary has is a row in core.go; one that needs something new of the requests is a row of its aspect.
package catalogue

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/adapters"
)

// Numbers are all numbers of a run, except further percentiles and the numbers of adapters, for which see Find.
var Numbers = sync.OnceValue(func() []metrics.Number {
	all := core()
	for _, l := range metrics.Latencies {
		all = append(all, l.Numbers()...)
	}
	return slices.Concat(all, aspect.Numbers())
})

var percentileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^p(\d+(?:\.\d+)?)_(\w+)$`) })

// Find is the number of that name or key: one of Numbers, or any percentile of a latency, as p95_ttft.
// The name of a LoRA adapter may precede it, as in sql/p95_ttft.
func Find(name string) (n metrics.Number, known bool) {
	if adapter, of := adapters.Cut(name); adapter != "" {
		if n, known = Find(of); known {
			return adapters.Number(n, adapter)
		}
		return n, false
	}
	for _, n := range Numbers() {
		if name != "" && (n.Name == name || n.Key == name) {
			return n, true
		}
	}
	if found := percentileName().FindStringSubmatch(strings.TrimSuffix(name, "_ms")); found != nil {
		p, err := strconv.ParseFloat(found[1], 64)
		i := slices.IndexFunc(Numbers(), func(n metrics.Number) bool { return n.Latency == found[2] })
		if i >= 0 && err == nil && p <= 100 {
			return Numbers()[i].At(p), true
		}
	}
	return n, false
}

// Chosen chooses numbers when they are first asked for.
func Chosen(names ...string) func() []metrics.Number {
	return sync.OnceValue(func() []metrics.Number { return Choose(names...) })
}

// Choose are the numbers of these names or keys. It panics for an unknown one: the names are constants.
func Choose(names ...string) []metrics.Number {
	var all []metrics.Number
	for _, name := range names {
		n, known := Find(name)
		if !known {
			panic("no number is called " + name)
		}
		all = append(all, n)
	}
	return all
}
