package main

import (
	"testing"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	parameters "github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/report/plot"

	"github.com/spf13/pflag"
)

// What becomes of the numbers neither keeps runs from being compared nor names them.
func TestResultFlagsMakeNoOtherLoad(t *testing.T) {
	seen := 0
	emptyForm().flags.VisitAll(func(flag *pflag.Flag) {
		if argv.GroupOf(flag) != "Results" || flag.Name == "goodput" { // which makes another number of the same requests
			return
		}
		seen++
		var runs []plot.Run
		for _, value := range []string{"a", "b"} {
			h := &metrics.Header{Version: "1", Flags: []metrics.KV{{Key: flag.Name, Value: value}}}
			runs = append(runs, plot.Run{Summary: aspect.Collector(h).Summary(1)})
		}
		one, other := parameters.Of(runs[0].Summary), parameters.Of(runs[1].Summary)
		if found := parameters.Differences([]parameters.Parameters{one}, []parameters.Parameters{other}, nil); found != nil {
			t.Errorf("--%s: %q", flag.Name, found)
		}
		if plot.Label(runs); runs[0].Name() != "run 1" {
			t.Errorf("--%s names a run %s", flag.Name, runs[0].Name())
		}
	})
	if seen < 15 {
		t.Fatalf("%d flags were looked at", seen)
	}
}
