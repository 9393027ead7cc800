package metrics

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// endTimes counts requests, and has a Distribution of when they ended.
type endTimes struct {
	n    int
	ends Distribution
}

func (e *endTimes) Add(r *record.Record) {
	e.n++
	e.ends.Add(r.Times.End.Seconds())
}

func (e *endTimes) Merge(o Aspect) {
	other := o.(*endTimes)
	e.n += other.n
	e.ends.Merge(&other.ends)
}

func (e *endTimes) Distributions() []*Distribution { return []*Distribution{&e.ends} }

var endKind = &Kind{Name: "ends", New: func(h *Header) Aspect {
	if h.Run == "without" {
		return nil
	}
	return &endTimes{ends: PerRequest()}
}}

// A shard may lack an aspect, or be the only one that has it. A window has the aspects of its run.
func TestAspectsOfShardsAddUp(t *testing.T) {
	for name, runs := range map[string][]string{"both": {"a", "b"}, "the first": {"a", "without"}, "the second": {"without", "b"}} {
		var all []*Collector
		want := 0
		for i, run := range runs {
			c := NewCollector(&Header{Run: run}, endKind)
			c.Keep.Trace = true
			for k := range 3 + i {
				c.Add(&record.Record{Times: record.Times{Sent: time.Duration(k) * time.Second, End: time.Duration(k) * time.Second}})
			}
			c.Add(&record.Record{Phase: record.WarmUp}) // not measured
			if run != "without" {
				want += 3 + i
			}
			all = append(all, c)
		}
		all[0].Merge(all[1], 0)
		s := all[0].Summary(1)
		if got := View[endTimes](s); got.n != want || got.ends.Len() != want {
			t.Errorf("%s: %d requests, %d times; want %d", name, got.n, got.ends.Len(), want)
		}
		if part := View[endTimes](s.Within(Window{0, time.Second})); name == "both" && (part.n == 0 || part.n >= want) {
			t.Errorf("%s: %d requests in a part", name, part.n)
		}
		median := View[endTimes](s).ends.Median()
		s.Settle()
		s.Condense()
		if got := View[endTimes](s); got.ends.exact.values != nil || got.ends.Median() != median || got.ends.Len() != want {
			t.Errorf("%s: condensed %v, want %v", name, got.ends.Median(), median)
		}
	}
	if s := Unknown(); View[endTimes](s).n != 0 {
		t.Error("a run without records has an aspect")
	}
}
