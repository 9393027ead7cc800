//go:build vllm && linux

package vllm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/stream"
)

// knowStart runs twice on the engine: both runs are on one start, which the engine says in /metrics.
func knowStart(t *testing.T, e *engine) {
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "run.jsonl")
	command(t, program, []string{"run", "--base-url", e.url, "--model", served, "--tokenizer", e.tokenizer, "--repeat", "2",
		"--num-prompts", "2", "--random-input-len", "10", "--random-output-len", "4", "-o", name})
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	runs, err := stream.Read(f, metrics.Ask{})
	if err != nil || len(runs) != 2 {
		t.Fatal(len(runs), err)
	}
	one, two := processes.Start(runs[0]), processes.Start(runs[1])
	if one == nil || two == nil || *one != *two || one.By != "process_start_time_seconds" || one.PID == 0 || one.Version == "" || one.Began.IsZero() {
		t.Fatalf("the runs are on the starts %+v and %+v", one, two)
	}
	fmt.Printf("the engine %s, process %d, started at %s\n", one.Version, one.PID, one.Began)
}
