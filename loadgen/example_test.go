package loadgen_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/metrics/vllm"
)

// simulated is a server that behaves like vLLM.
func simulated() *httptest.Server {
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		log.Fatal(err)
	}
	return httptest.NewServer(engine)
}

// labels prints each line that is written to it up to its number.
type labels struct{}

func (labels) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		label, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		fmt.Printf("%s\n", label)
	}
	return len(text), nil
}

// Put a server under 200 requests a second, and print the result block.
func Example() {
	plan := loadgen.Plan{
		Server:   loadgen.Server{BaseURL: simulated().URL},
		Workload: loadgen.Workload{NumPrompts: 20, Random: dataset.Random{InputLen: 32, OutputLen: 8}},
		Traffic:  loadgen.Traffic{RequestRate: 200},
	}
	sums, err := plan.Run(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := vllm.Block(labels{}, sums[0], vllm.Version{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ============ Serving Benchmark Result ============
	// Successful requests
	// Failed requests
	// Request rate configured (RPS)
	// Benchmark duration (s)
	// Total input tokens
	// Total generated tokens
	// Request throughput (req/s)
	// Output token throughput (tok/s)
	// Peak output token throughput (tok/s)
	// Peak concurrent requests
	// Total token throughput (tok/s)
	// ---------------Time to First Token----------------
	// Mean TTFT (ms)
	// Median TTFT (ms)
	// P99 TTFT (ms)
	// -----Time per Output Token (excl. 1st token)------
	// Mean TPOT (ms)
	// Median TPOT (ms)
	// P99 TPOT (ms)
	// ---------------Inter-token Latency----------------
	// Mean ITL (ms)
	// Median ITL (ms)
	// P99 ITL (ms)
	// ==================================================
}

// Load two servers on one clock, after each alone, and say whether the numbers of each
// load test can be believed.
func ExamplePlan_Run() {
	server := func(name string) *loadgen.Plan {
		return &loadgen.Plan{
			Target:   name,
			Server:   loadgen.Server{BaseURL: simulated().URL},
			Workload: loadgen.Workload{NumPrompts: 10, Random: dataset.Random{InputLen: 32, OutputLen: 8}},
		}
	}
	plan := loadgen.Plan{Targets: []*loadgen.Plan{server("old"), server("new")}, SoloFirst: true}
	sums, err := plan.Run(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sums {
		fmt.Printf("%s, alone: %t, %d requests, judged: %t\n", s.Header.Target, s.Header.Solo, s.Completed, s.Trust != nil)
	}
	// Output:
	// old, alone: true, 10 requests, judged: true
	// new, alone: true, 10 requests, judged: true
	// old, alone: false, 10 requests, judged: true
	// new, alone: false, 10 requests, judged: true
}
