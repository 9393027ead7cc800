package main

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/servebench/servebench/metrics/published"
)

// One command for each document puts every block of it next to a simulated server. The profiles were
// fitted to these blocks, so the ratios of means are near 1, also where lengths of answers differ.
func TestEveryBlockOfTheSeedsHasItsSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	t.Chdir("../..")
	found := map[string]bool{}
	for _, name := range []string{"kvcached", "ladder", "percentiles", "prefill-decode", "sm-partition"} {
		file := "testdata/documents/" + name + ".yaml"
		folder := filepath.Join(t.TempDir(), "sweep")
		cmd := newSweepCommand()
		cmd.SetArgs([]string{file, "--simulate", "-o", folder})
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if want := "servebench sweep " + file + " --simulate"; headerCommand(t, file) != want {
			t.Errorf("the header of %s says %q, want %q", file, headerCommand(t, file), want)
		}
		blocks, err := published.ReadFolder(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			name := fmt.Sprintf("%s:%d", filepath.Base(b.Document), b.Number)
			if found[name] {
				t.Errorf("%s is there twice", name)
			}
			found[name] = true
			near(t, name, b)
		}
	}
	if len(found) != 37 {
		t.Errorf("%d blocks have a simulation, want 37", len(found))
	}
}

// near checks the ratios of a block's means, and that the numbers of a block are all there.
func near(t *testing.T, name string, b *published.Block) {
	t.Helper()
	limits := map[string]float64{"mean_ttft": 0.25, "mean_tpot": 0.1, "mean_itl": 0.2}
	if !b.Simulated || len(b.Numbers) < 7 {
		t.Errorf("%s: simulated %v, with %d numbers", name, b.Simulated, len(b.Numbers))
	}
	for _, n := range b.Numbers {
		if limit := limits[n.Name]; limit > 0 && (n.Ratio < 1-limit || n.Ratio > 1+limit) {
			t.Errorf("%s: %s is %.2f of the document's", name, n.Label(), n.Ratio)
		}
	}
}
