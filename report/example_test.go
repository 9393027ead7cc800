package report_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
)

// recorded is the run of a record stream, as servebench run -o writes it.
func recorded() *metrics.Summary {
	f, err := os.Open("testdata/run.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	sums, err := stream.Read(f, metrics.Ask{})
	if err != nil {
		log.Fatal(err)
	}
	return sums[0]
}

// The block of a recorded run, without the blanks at the ends of its lines.
func Example() {
	var text strings.Builder
	if err := vllm.Block(&text, recorded(), vllm.Version{}); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		fmt.Println(strings.TrimSpace(line))
	}
	// Output:
	// ============ Serving Benchmark Result ============
	// Successful requests:                     20
	// Failed requests:                         0
	// Request rate configured (RPS):           20.00
	// Benchmark duration (s):                  1.20
	// Total input tokens:                      2000
	// Total generated tokens:                  220
	// Request throughput (req/s):              16.67
	// Output token throughput (tok/s):         183.33
	// Peak output token throughput (tok/s):    202.00
	// Peak concurrent requests:                20.00
	// Total token throughput (tok/s):          1850.00
	// ---------------Time to First Token----------------
	// Mean TTFT (ms):                          49.50
	// Median TTFT (ms):                        49.50
	// P90 TTFT (ms):                           57.10
	// -----Time per Output Token (excl. 1st token)------
	// Mean TPOT (ms):                          10.00
	// Median TPOT (ms):                        10.00
	// P90 TPOT (ms):                           10.00
	// ==================================================
}

// What the block cannot say, and whether to believe the numbers.
func ExampleTruth() {
	run := recorded()
	if err := report.Truth(os.Stdout, run); err != nil {
		log.Fatal(err)
	}
	if err := report.Verdict(os.Stdout, run); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ---------------------------------------- Additional metrics ----------------------------------------
	// Milliseconds                           mean     median        P90
	// TTFT from the request written         49.40      49.40      57.00
	// 95 % interval, milliseconds                  P90
	// TTFT                                    ≥ 54.00*
	// TPOT                                    ≥ 10.00*
	// * fewer than 10 values beyond this percentile: too few to decide anything by it
	// Connecting (part of TTFT)        4 of 20 requests: TCP 0.50 ms
	// Connections opened               4 during the run
	// Peak output throughput           213 tokens in the busiest second
	// Requests in flight               at most 4, mean 2.49
	// Request rate                     20.00 req/s, scheduled 20.00 req/s
	// Slot held after last chunk       0.050 ms per request (0.03 % of E2EL)
	// Samples beyond P90               TTFT 2, TPOT 2
	// Note: P90 of 20 samples: only 2 beyond it (TTFT, TPOT)
	// VALID: 20 of 20 requests completed; sent 20.00 of the 20.00 req/s scheduled; lag p99 0.0 ms; own CPU 0.62 % of 8 cores
}
