package dry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/dry"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A thousand prompts at ten a second, which takes no 100 seconds.
func ExampleRun() {
	profile, err := speed.Open("kvcached-off")
	if err != nil {
		log.Fatal(err)
	}
	plan := &loadgen.Plan{Workload: loadgen.Workload{NumPrompts: 1000, Random: dataset.Random{InputLen: 215, OutputLen: 130}}}
	plan.Server.BaseURL, plan.Traffic.RequestRate = "http://127.0.0.1:8000", 10
	servers := dry.Of(sim.Config{Profile: profile, Model: "stub-32000"}, []int{8000}, nil)
	sums, err := dry.Run(context.Background(), plan, servers)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d requests in %.0f s, mean TPOT %.1f ms\n", sums[0].Completed, sums[0].When.Seconds, sums[0].TPOT.Mean())
	// Output: 1000 requests in 101 s, mean TPOT 7.6 ms
}
