package vllm

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

// fingerprints are of the results in a text.
func fingerprints(t *testing.T, text string) (all []string) {
	t.Helper()
	var sums []*metrics.Summary
	var err error
	if strings.HasPrefix(text, "{") {
		sums, err = ReadResults(strings.NewReader(text), metrics.Ask{})
	} else {
		var blocks BlockReader
		for line := range strings.Lines(text) {
			blocks.Line(line)
		}
		sums, err = blocks.Summaries(metrics.Ask{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sums {
		all = append(all, s.Source.Fingerprint)
	}
	return all
}

func TestCopiesHaveOneFingerprint(t *testing.T) {
	const file = `{"date": "20260801-120000", "label": "a", "duration": 10.0, "completed": 100, "total_input_tokens": 1000, "mean_ttft_ms": 41.25}`
	own := fingerprints(t, file)[0]
	for name, copied := range map[string]string{
		"other white space": strings.ReplaceAll(file, ", ", ",\n  "),
		"another label":     strings.Replace(file, `"a"`, `"b"`, 1),
		"another order":     `{"mean_ttft_ms": 41.25, ` + strings.Replace(file[1:], `, "mean_ttft_ms": 41.25`, "", 1),
		"other spelling":    strings.Replace(file, "10.0", "1e1", 1),
		"with arrays":       strings.Replace(file, "}", `, "ttfts": [0.04], "itls": [[]], "input_lens": [10], "output_lens": [1], "generated_texts": [""], "errors": [""]}`, 1),
	} {
		if got := fingerprints(t, copied)[0]; got != own || got == "" {
			t.Errorf("%s: %q, want %q", name, got, own)
		}
	}
	for name, other := range map[string]string{
		"another time":   strings.Replace(file, "-120000", "-120100", 1),
		"another number": strings.Replace(file, "41.25", "41.26", 1),
		"an id":          strings.Replace(file, "{", `{"run_id": "r", `, 1),
	} {
		if got := fingerprints(t, other)[0]; got == own {
			t.Errorf("%s: the same", name)
		}
	}
	if got := fingerprints(t, strings.Replace(file, "{", `{"run_id": "r", `, 1))[0]; got != "" {
		t.Errorf("a run with an id: %q", got)
	}
}

func TestPastedBlocksHaveOneFingerprint(t *testing.T) {
	const block = "============ Serving Benchmark Result ============\n" +
		"Successful requests:                     100       \nBenchmark duration (s):                  10.37     \nTotal input tokens:                      1000      \n" +
		"Total generated tokens:                  2000      \nRequest throughput (req/s):              9.64      \nOutput token throughput (tok/s):         192.86    \n" +
		"Mean TTFT (ms):                          41.25     \nMedian TTFT (ms):                        40.11     \n" +
		"==================================================\n"
	quoted := "> " + strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n> ") + "\n"
	got := fingerprints(t, block+"a log line\n"+quoted+strings.Replace(block, "41.25", "41.26", 1))
	if len(got) != 3 || got[0] == "" || got[0] != got[1] || got[0] == got[2] {
		t.Errorf("%q", got)
	}
	if short := fingerprints(t, strings.Replace(block, "Mean TTFT", "Mean", 1)); short[0] != "" {
		t.Errorf("seven numbers may be the same by chance: %q", short)
	}
}
