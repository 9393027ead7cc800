package loadtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/loadtest"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// A load of 20 requests, four at a time, on a simulated server. In a test,
// load.Test(t, slo) runs it and fails the test where the SLO does not hold.
func Example() {
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	load := loadtest.Load{Handler: server, Requests: 20, Concurrency: 4, InputLen: 32, OutputLen: 8, IgnoreEOS: true}
	s, err := load.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	slo := loadtest.SLO{TTFT: loadtest.Latency{Median: time.Minute}, E2EL: loadtest.Latency{Mean: time.Microsecond}}
	fmt.Println(s.Completed, "requests,", s.Totals.Output, "tokens,", len(slo.Broken(s)), "limit broken")
	// Output: 20 requests, 160 tokens, 1 limit broken
}

// What keeps a baseline of ten runs, on a server known to be good.
func ExampleBaseline() {
	load := loadtest.Load{URL: "http://127.0.0.1:8000", Requests: 200, Rate: 20, InputLen: 256, OutputLen: 64}
	runs, err := load.Repeat(context.Background(), 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	var kept compare.Baseline
	if err := kept.Add(runs, gating.Gate{}); err != nil {
		fmt.Println(err)
		return
	}
	f, err := os.Create("testdata/baseline.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := errors.Join(kept.Write(f), f.Close()); err != nil {
		fmt.Println(err)
	}
}

// A test that fails where output throughput, median TTFT or median TPOT got worse
// by more than 5 %, and where that cannot be told.
func ExampleLoad_TestAgainst() {
	test := func(t *testing.T) {
		load := loadtest.Load{URL: "http://127.0.0.1:8000", Requests: 200, Rate: 20, InputLen: 256, OutputLen: 64, Seed: 1000}
		load.TestAgainst(t, loadtest.Baseline{File: "testdata/baseline.json"})
	}
	_ = test // go test calls a function that is named TestServerIsNoWorse
}
