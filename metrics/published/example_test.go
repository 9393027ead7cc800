package published_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/vllm"
)

// document is a result block as people paste it.
const document = `
============ Serving Benchmark Result ============
Successful requests:                     100
Benchmark duration (s):                  10.00
Total input tokens:                      1000
Total generated tokens:                  200
Maximum request concurrency:             8
Request rate configured (RPS):           10.00
Output token throughput (tok/s):         20.00
Mean TTFT (ms):                          40.00
P99 TTFT (ms):                           60.00
Mean TPOT (ms):                          0.00
==================================================
`

// blocks are the blocks of a text.
func blocks(text string) []*metrics.Summary {
	var b vllm.BlockReader
	line := ""
	for _, r := range text {
		if line += string(r); r == '\n' {
			b.Line(line)
			line = ""
		}
	}
	all, err := b.Summaries(metrics.Ask{})
	if err != nil {
		panic(err)
	}
	for i, s := range all {
		s.Source.Origin = metrics.Origin{File: "doc.md", Number: i + 1, Of: len(all)}
	}
	return all
}

// run has so many requests of ten prompt tokens and two output tokens, all with that TTFT.
func run(n int, ttft time.Duration, config metrics.Config) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: config})
	for i := range n {
		r := &record.Record{Index: i, Tokens: record.Tokens{In: 10, Out: 2}}
		r.Answer.Chunks.Append(ttft)
		r.Answer.Chunks.Append(ttft + 10*time.Millisecond)
		r.Times.Last = r.Answer.Chunks.Last()
		r.Times.End = r.Times.Last
		c.Add(r)
	}
	return c.Summary(10)
}

// Three runs next to a block: the ratio is the one of their median, and there is no verdict.
func ExampleNew() {
	config := metrics.Config{RequestRate: 10, MaxConcurrency: 8}
	b := published.New(blocks(document)[0], "one arm", []*metrics.Summary{
		run(100, 50*time.Millisecond, config), run(100, 20*time.Millisecond, config), run(100, 30*time.Millisecond, config),
	})
	fmt.Println(b.Document, b.Number, b.Stated())
	for _, n := range b.Numbers {
		fmt.Printf("%s: %.4g, %.4g (%.4g to %.4g), ratio %.4g\n", n.Label(), n.Document, n.Here, n.Least, n.Most, n.Ratio)
	}
	// Output:
	// doc.md 1 GPU and model not stated
	// duration s: 10, 10 (10 to 10), ratio 1
	// output tok/s: 20, 20 (20 to 20), ratio 1
	// mean TTFT ms: 40, 30 (20 to 50), ratio 0.75
	// P99 TTFT ms: 60, 30 (20 to 50), ratio 0.5
}
