package main

import (
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report/plot"
)

// What becomes of the numbers neither keeps runs from being compared nor names them.
func TestResultFlagsMakeNoOtherLoad(t *testing.T) {
	_, table := newForm()
	seen := 0
	for _, g := range table {
		if g.title != "Results" {
			continue
		}
		for _, f := range g.flags {
			if f.name == "goodput" {
				continue // it makes another number of the same requests
			}
			seen++
			var runs []plot.Run
			for _, value := range []string{"a", "b"} {
				h := &metrics.Header{Version: "1", Flags: []metrics.KV{{Key: f.name, Value: value}}}
				runs = append(runs, plot.Run{Summary: metrics.NewCollector(h).Summary(1)})
			}
			asked := compare.Runs([]*metrics.Summary{runs[0].Summary, runs[1].Summary})
			if found := compare.Differences(asked[:1], asked[1:], nil); found != nil {
				t.Errorf("--%s: %q", f.name, found)
			}
			if plot.Label(runs); runs[0].Name() != "run 1" {
				t.Errorf("--%s names a run %s", f.name, runs[0].Name())
			}
		}
	}
	if seen < 15 {
		t.Fatalf("%d flags were looked at", seen)
	}
}
