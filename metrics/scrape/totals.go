package scrape

import (
	"maps"
	"slices"
	"strings"
)

// totals are a server's series by the plain name of their metric, summed over their labels.
type totals map[string]*total

// A total is one metric. If a server writes it in two spellings, as routers do in transition, the one
// that came first counts.
type total struct {
	spelled string
	parts   map[string]float64 // by their labels, without ranks
	series  int
	least   float64
}

// ranks are labels of processes that work on the same requests together, so that each says the same.
// Ranks of data parallelism (dp_rank, vLLM's engine) and workers of a router have their own requests.
// SGLang reports all ranks with --enable-metrics-for-all-schedulers.
var ranks = []string{"tp_rank", "pp_rank", "moe_ep_rank", "moe_tp_rank", "ep_rank", "cp_rank", "attn_tp_rank",
	"attn_cp_rank"}

func (t totals) add(s series) {
	name := plain(s.name)
	old := t[name]
	if old == nil {
		old = &total{spelled: s.name, parts: map[string]float64{}, least: s.value}
		t[name] = old
	}
	if old.spelled != s.name {
		return
	}
	old.series++
	old.least = min(old.least, s.value)
	key, ranked := s.part()
	before, known := old.parts[key]
	if ranked && known {
		old.parts[key] = max(before, s.value) // one of them may not have counted the last request yet
	} else {
		old.parts[key] = before + s.value
	}
}

// part names whose requests the series is about, and whether it is about one rank of several.
func (s series) part() (key string, ranked bool) {
	var all []string
	for _, pair := range s.labels {
		if slices.Contains(ranks, pair.GetName()) {
			ranked = true
		} else {
			all = append(all, pair.GetName()+"\x00"+pair.GetValue())
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\x00"), ranked
}

// sum is the sum over all parts; 0 for nil.
func (t *total) sum() (sum float64) {
	if t != nil {
		for _, key := range slices.Sorted(maps.Keys(t.parts)) { // the same sum each time
			sum += t.parts[key]
		}
	}
	return sum
}

// named finds a metric. Ray and some exporters leave out the _total of counters, and OpenTelemetry's
// puts _ratio behind shares.
func (t totals) named(name string) *total {
	name = plain(name)
	for _, spelled := range []string{name, strings.TrimSuffix(name, "_total"), name + "_ratio"} {
		if found := t[spelled]; found != nil {
			return found
		}
	}
	return nil
}

// first is the sum of the first of several possible names of a metric, since servers in transition
// have both; nil if it has none.
func (t totals) first(names ...string) *float64 {
	for _, name := range names {
		if found := t.named(name); found != nil {
			return new(found.sum())
		}
	}
	return nil
}

// firstMean is like first, but returns the mean.
func (t totals) firstMean(names ...string) *float64 {
	for _, name := range names {
		if found := t.named(name); found != nil {
			return new(found.sum() / float64(len(found.parts)))
		}
	}
	return nil
}
