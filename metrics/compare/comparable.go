package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// Differences say what two sides were not asked for alike: what makes their
// numbers another thing than a change of the server. What is not known of one
// side does not differ.
func Differences(old, new []*metrics.Summary) []string {
	var found []string
	for _, p := range properties {
		a, b := p.of.all(old), p.of.all(new)
		if a == "" || b == "" || a == b {
			continue
		}
		found = append(found, fmt.Sprintf("%s is %s on the old side and %s on the new", p.name, a, b))
	}
	return found
}

// A property is what a run was asked for, in words; empty where that is not known.
type property func(*metrics.Header) string

// all is the property of all runs, each value once.
func (p property) all(runs []*metrics.Summary) string {
	var values []string
	for _, s := range runs {
		if v := p(s.Header); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return strings.Join(values, ", ")
}

var properties = []struct {
	name string
	of   property
}{
	{"model", func(h *metrics.Header) string { return h.Config.Model }},
	{"backend", func(h *metrics.Header) string { return h.Config.Backend }},
	{"dataset", func(h *metrics.Header) string { return h.Config.Dataset }},
	{"tokenizer", func(h *metrics.Header) string { return h.Config.Tokenizer }},
	{"number of prompts", func(h *metrics.Header) string { return known(h.Config.NumPrompts, h.Config.NumPrompts > 0) }},
	{"request rate", func(h *metrics.Header) string {
		return known(h.Config.RequestRate, h.Config.RequestRate == h.Config.RequestRate)
	}},
	{"burstiness", func(h *metrics.Header) string {
		return known(h.Config.Burstiness, h.Config.Burstiness == h.Config.Burstiness)
	}},
	{"rate curve", func(h *metrics.Header) string { return h.Config.RateCurve }},
	{"concurrency", func(h *metrics.Header) string { return known(h.Config.MaxConcurrency, h.Config.MaxConcurrency > 0) }},
	{"client", func(h *metrics.Header) string { return h.Version }},
}

func known[T any](v T, ok bool) string {
	if !ok {
		return ""
	}
	return fmt.Sprint(v)
}
