package targets_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/targets"
)

// run is a run of one request, which has its first token so late.
func run(target string, solo bool, ttft time.Duration) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Group: "night", Target: target, Solo: solo})
	r := &record.Record{Tokens: record.Tokens{In: 10, Out: 1}}
	r.Answer.Chunks.Append(ttft)
	r.Times.Last, r.Times.End = ttft, ttft
	c.Add(r)
	return c.Summary(1)
}

func ExampleGroups() {
	groups := targets.Groups([]*metrics.Summary{
		run("chat", true, 100*time.Millisecond), run("batch", true, 200*time.Millisecond),
		run("chat", false, 150*time.Millisecond), run("batch", false, 200*time.Millisecond),
	})
	ttft := targets.Measures()[0]
	for _, e := range groups[0].Interference().Effects {
		fmt.Printf("%s is slower by a factor of %.1f\n", e.Target, e.Slowdown(ttft))
	}

	// Output:
	// chat is slower by a factor of 1.5
	// batch is slower by a factor of 1.0
}
