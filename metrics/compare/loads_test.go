package compare

import (
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// Runs whose prompts or answers were of other lengths, or which asked for another model, are of
// other loads, by whichever flag.
func TestLengthsAndServedNamesMakeALoad(t *testing.T) {
	run := func(dataset string, flags ...metrics.KV) *brief.Run {
		h := &metrics.Header{Version: "1", Flags: flags, Config: metrics.Config{Model: "m", Dataset: dataset}}
		return brief.Runs([]*metrics.Summary{aspect.Collector(h).Summary(1)})[0]
	}
	long := metrics.KV{Key: "random-input-len", Value: "1024"} // which is recorded as the default
	for name, runs := range map[string][]*brief.Run{
		"random-input-len":             {run("random", long, metrics.KV{Key: "input-len", Value: "40"}), run("random", long, metrics.KV{Key: "input-len", Value: "2000"})},
		"prefix-repetition-output-len": {run("prefix_repetition", metrics.KV{Key: "output-len", Value: "40"}), run("prefix_repetition")},
		"served-model-name":            {run("random", metrics.KV{Key: "served-model-name", Value: "a"}), run("random", metrics.KV{Key: "served-model-name", Value: "b"})},
	} {
		e, _ := Unmixed(runs, runs[:1], nil).(*mixedError)
		if e == nil || len(e.parts) != 1 || len(e.parts[0].by) != 1 || e.parts[0].by[0].property != name {
			t.Errorf("%s: %v", name, e)
		}
	}
	same := []*brief.Run{
		run("random", long, metrics.KV{Key: "input-len", Value: "40"}), run("random", metrics.KV{Key: "random-input-len", Value: "40"}),
		run("random", metrics.KV{Key: "random-input-len", Value: "40"}, metrics.KV{Key: "served-model-name", Value: "m"}),
	}
	if err := Unmixed(same, same, nil); err != nil {
		t.Error(err)
	}
}
