package sweep_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"net/http/httptest"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sweep"
)

// words are an entry of the file as a flag.
func words(name string, value *yaml.Node) (string, []string, error) {
	return name, []string{"--" + name + "=" + value.Value}, nil
}

// load reads the few flags of this example.
func load(args, _ []string) (*sweep.Load, error) {
	p := &loadgen.Plan{Traffic: loadgen.Traffic{RequestRate: math.Inf(1), MaxConcurrency: new(int)}}
	p.Workload = loadgen.Workload{Dataset: "random", NumPrompts: 8, Random: dataset.Random{InputLen: 16, OutputLen: 4}}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&p.Server.BaseURL, "base-url", "", "")
	flags.Int64Var(&p.Workload.Seed, "seed", 0, "")
	flags.IntVar(p.Traffic.MaxConcurrency, "max-concurrency", 0, "")
	return &sweep.Load{Plan: p}, flags.Parse(args)
}

// A simulated server under one request at a time and under four, twice each.
func Example() {
	engine, err := sim.New(sim.Config{Model: "stub-32000", Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	server := httptest.NewServer(engine)
	defer server.Close()
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	file := "repeats: 2\ngrid: {max-concurrency: [1, 4]}\narms: [{name: sim, url: '" + server.URL + "'}]"
	plan, err := sweep.Parse("experiment.yaml", strings.NewReader(file), &sweep.Flags{Words: words, Load: load})
	if err != nil {
		log.Fatal(err)
	}
	plan.Describe(os.Stdout, "experiment.yaml", "experiment.sweep")
	var out strings.Builder
	s := &sweep.Sweep{Plan: plan, Dir: dir, Out: &out, Talk: io.Discard}
	result, err := s.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d runs, %d failed\n", result.Runs, result.Failed)
	fmt.Print(out.String()[:strings.Index(out.String(), "===")])
	// Output:
	// experiment.yaml: 1 arm, 2 loads, 2 repeats: 4 runs, about 2 s
	//    1  max-concurrency 1, repeat 1, seed 0: about 1 s
	//    2  max-concurrency 4, repeat 1, seed 1: about 1 s
	//    3  max-concurrency 1, repeat 2, seed 2: about 1 s
	//    4  max-concurrency 4, repeat 2, seed 3: about 1 s
	// assuming 20 ms a token, 20000 prompt tokens a second
	// 4 runs, 0 failed
	// sim
	// max_concurrency: 1, 4
	//
	// max_concurrency: 1, repeat: 1
}
