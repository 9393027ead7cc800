package loadgen

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
)

// The first of eight tokens of reasoning comes after a step of 10 ms, and the first of the answer
// after nine.
func TestTTFOIsTheTimeToTheAnswer(t *testing.T) {
	for _, c := range []struct {
		backend, field string
		ttft, ttfo     float64
	}{
		{"openai-chat", "reasoning", 10, 90},
		{"openai-chat", "reasoning_content", 90, 90}, // vLLM's client does not know the name
		{"openai-responses", "reasoning", 10, 90},
		{"anthropic", "reasoning", 10, 90},
		{"anthropic", "reasoning_content", 10, 90},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 10 * time.Millisecond}, Answers: sim.Answers{Lead: sim.Lead{Field: c.field, Tokens: 8}}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Close)
			plan := onHandler(t)
			plan.Server.Backend, plan.Server.Handler, plan.Sampling.IgnoreEOS = c.backend, server, true
			plan.Workload.Random = dataset.Random{InputLen: 20, OutputLen: 12}
			plan.Report.Goodput = []metrics.SLO{{Metric: "ttfo", Limit: 90}}
			sums, err := plan.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			s := sums[0]
			d := s.TTFO()
			if s.Completed != 4 || d == nil || d.Len() != 4 {
				t.Fatalf("%s, %s: %d completed, %+v", c.backend, c.field, s.Completed, d)
			}
			if s.TTFT.Percentile(100) != c.ttft || d.Percentile(0) != c.ttfo || d.Percentile(100) != c.ttfo || reasoning.Of(s).Answers != 4 || s.Rates.Goodput != s.Rates.Requests {
				t.Errorf("%s, %s: TTFT %v ms, TTFO %v to %v ms, %+v, goodput %v of %v", c.backend, c.field,
					s.TTFT.Percentile(100), d.Percentile(0), d.Percentile(100), reasoning.Of(s), s.Rates.Goodput, s.Rates.Requests)
			}
		})
	}
}
