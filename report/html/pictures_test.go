package html

import (
	"os"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/report/plot"
)

// recorded are the runs of a recording in testdata/pictures. make pictures records them, and shows them in
// docs/pictures.
func recorded(t *testing.T, name string) (runs []Run) {
	t.Helper()
	file, err := os.Open("../../testdata/pictures/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sums, err := stream.Read(file, metrics.Ask{Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sums {
		runs = append(runs, Run{Run: plot.Run{Summary: s, File: name}})
	}
	return runs
}

func TestPicturesHaveTheirRecordings(t *testing.T) {
	for name, want := range map[string]int{"run.jsonl": 1, "sweep.jsonl": 30} {
		if runs := recorded(t, name); len(runs) != want {
			t.Errorf("%s has %d runs, want %d", name, len(runs), want)
		}
	}
}
