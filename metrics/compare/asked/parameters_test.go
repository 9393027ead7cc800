package asked

import (
	"maps"
	"math"
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestAFileWithoutAVersionHasNoSeed(t *testing.T) {
	s := &metrics.Summary{Header: &metrics.Header{Target: "a", Solo: true, Config: metrics.Config{RequestRate: math.NaN(), Burstiness: math.NaN()}}}
	if got := Of(s); !maps.Equal(got, map[string]string{"target": "a alone"}) {
		t.Errorf("%v", got)
	}
}

// Two names of one backend, and limits that only count good requests, make no other load.
func TestHarmlessDifferencesAreComparable(t *testing.T) {
	run := func(backend string, flags ...metrics.KV) []Parameters {
		h := &metrics.Header{Version: "1", Flags: flags, Config: metrics.Config{Backend: backend}}
		return []Parameters{Of(&metrics.Summary{Header: h})}
	}
	if got := Differences(run("vllm"), run("openai", metrics.KV{Key: "goodput", Value: "ttft:200"}), nil); got != nil {
		t.Error(got)
	}
}

// Completions have no definitions, since all releases count them alike.
func TestDefinitionsOfCompletionsAreNotMissing(t *testing.T) {
	p := Parameters{Client: "v1"}
	if got := p.Value(Definitions); got != "" {
		t.Errorf("its definitions are %s", got)
	}
	if got := p.Value("temperature"); got != NotGiven {
		t.Errorf("its temperature is %q", got)
	}
}
