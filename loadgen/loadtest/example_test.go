package loadtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/loadtest"
	"github.com/servebench/servebench/loadgen/sim"
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
	slo := loadtest.SLO{TTFT: loadtest.Latency{P99: time.Minute}, E2EL: loadtest.Latency{Median: time.Microsecond}}
	fmt.Println(s.Completed, "requests,", s.TotalOutput, "tokens,", len(slo.Broken(s)), "limit broken")
	// Output: 20 requests, 160 tokens, 1 limit broken
}
