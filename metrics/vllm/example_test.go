package vllm_test

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
)

func ExampleBlockReader() {
	const text = `INFO: starting
============ Serving Benchmark Result ============
Successful requests:                     100
Benchmark duration (s):                  12.50
Mean TTFT (ms):                          35.20
P99 TTFT (ms):                           80.01
==================================================
`
	var blocks vllm.BlockReader
	for line := range strings.Lines(text) {
		blocks.Line(line)
	}
	sums, err := blocks.Summaries(metrics.Ask{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := sums[0]
	fmt.Println(s.Completed, "requests in", s.When.Seconds, "s, P99 TTFT", s.TTFT.Percentile(99), "ms")
	// Output: 100 requests in 12.5 s, P99 TTFT 80.01 ms
}

func ExampleBlock() {
	s := metrics.Unknown()
	s.Completed, s.Failed, s.When.Seconds = 100, 2, 12.5
	v, err := vllm.ParseVersion("0.10.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	var block strings.Builder
	if err := vllm.Block(&block, s, v); err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(block.String()) {
		fmt.Println(strings.TrimRight(line, " \n"))
	}
	// Output:
	// ============ Serving Benchmark Result ============
	// Successful requests:                     100
	// Benchmark duration (s):                  12.50
	// ==================================================
}
