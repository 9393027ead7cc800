package stream

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
)

// The folder of an experiment of vLLM's sweep has a folder for each combination, in which the runs
// stand alone and together.
func TestTheFolderOfVLLMsSweepIsItsRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(number int) string {
		return fmt.Sprintf(`{"date": "20261101-120000", "backend": "vllm", "label": null, "model_id": "m", "num_prompts": 8, "tp": "2", "request_rate": "inf",
			"burstiness": 1.0, "max_concurrency": 4, "duration": %d, "completed": 8, "total_input_tokens": 80, "mean_ttft_ms": 3.5,
			"run_number": %[1]d, "max_num_seqs": 64, "enforce_eager": true, "_benchmark_name": "a b"}`, number)
	}
	const one, other = "SERVE--a-BENCH--x", "SERVE--b-BENCH--x"
	for _, number := range []int{0, 2, 10} {
		write(fmt.Sprintf("%s/run=%d.json", one, number), run(number))
	}
	write(other+"/run=0.json", run(0))
	write(one+"/summary.json", "["+run(0)+","+run(2)+"]")
	write(one+"/warmup.json", run(-1))
	write("summary.csv", ",date\n0,20261101-120000\n")

	recorded := Recorded{Warn: func(text string) { t.Error(text) }}
	for folder, want := range map[string][]float64{".": {0, 2, 10, 0}, one: {0, 2, 10}} {
		sums, err := recorded.Read(filepath.Join(dir, folder))
		if err != nil {
			t.Fatal(err)
		}
		var seconds []float64
		for _, s := range sums {
			seconds = append(seconds, s.When.Seconds)
		}
		if !slices.Equal(seconds, want) {
			t.Errorf("%s: runs of %v s, want %v", folder, seconds, want)
		}
		metadata := []metrics.KV{{Key: "tp", Value: "2"}, {Key: "max_num_seqs", Value: "64"}, {Key: "enforce_eager", Value: "true"},
			{Key: "_benchmark_name", Value: "a b"}, {Key: "repeat", Value: "3"}}
		if diff := cmp.Diff(metadata, sums[1].Header.Config.Metadata); diff != "" || !strings.HasSuffix(sums[1].Source.Origin.File, "run=2.json") {
			t.Errorf("%s (-want +got):\n%s", sums[1].Source.Origin.File, diff)
		}
	}
}
