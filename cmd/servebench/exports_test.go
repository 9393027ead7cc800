//go:build oracle

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// DuckDB and pandas read what servebench report writes, and find what the record stream
// has. $EXPORTS is a folder with their Python.
func TestExportsOracle(t *testing.T) {
	python := filepath.Join(os.Getenv("EXPORTS"), "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("make exports installs it: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	url, wait, err := launchSim(ctx, []string{"--step-base", "1ms", "--fault", "error=3", "--fault-every", "7"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"run", "--base-url", url, "--num-prompts", "60", "--repeat", "3", "--random-input-len", "20", "--random-output-len", "8", "--disable-tqdm", "-o", at("run.jsonl")},
		{"report", "--write", "requests-parquet=" + at("requests.parquet"), "--write", "requests-csv=" + at("requests.csv"), "--write", "csv=" + at("runs.csv"), at("run.jsonl")},
	} {
		if code := servebench(ctx, args); code != 0 {
			t.Fatalf("servebench %q: exit code %d", args, code)
		}
	}
	cancel()
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.Command(python, "testdata/exports/oracle.py", dir).CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^3 runs and 180 requests agree$`).Match(printed) {
		t.Errorf("%v\n%s", err, printed)
	}
}
