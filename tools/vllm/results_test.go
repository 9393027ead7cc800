//go:build vllm

package vllm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// results is what a run leaves behind.
type results struct {
	stdout    string
	file      resultFile
	keys      []string // of the result file, in their order
	succeeded map[string]bool
	errors    map[string]string // why those failed that did, by id
}

// A resultFile is what is compared of a result file. Times are in seconds, but
// for the means, which are in milliseconds.
type resultFile struct {
	Completed int         `json:"completed"`
	Failed    int         `json:"failed"`
	Input     int         `json:"total_input_tokens"`
	Output    int         `json:"total_output_tokens"`
	Sequences int         `json:"total_input_sequences"`
	InputLens []int       `json:"input_lens"`
	Outputs   []int       `json:"output_lens"`
	TTFTs     []float64   `json:"ttfts"`
	ITLs      [][]float64 `json:"itls"`
	Latencies []float64   `json:"latencies"`
	Texts     []string    `json:"generated_texts"`
	TTFT      float64     `json:"mean_ttft_ms"`
	ITL       float64     `json:"mean_itl_ms"`
	E2EL      float64     `json:"mean_e2el_ms"`
}

// idPrefix begins each request's id in all runs.
const idPrefix = "same-"

// resultFlags have a run leave a result file, result.json in a folder.
func resultFlags(dir string) []string {
	return []string{"--request-id-prefix", idPrefix, "--disable-tqdm",
		"--save-result", "--save-detailed", "--result-dir", dir, "--result-filename", "result.json"}
}

// readResults reads what a run has left in a folder.
func readResults(t *testing.T, dir, stdout string) *results {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &results{stdout: stdout, succeeded: map[string]bool{}, errors: map[string]string{}}
	if err := json.Unmarshal(data, &r.file); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, err = dec.Token(); err == nil && dec.More(); {
		var key json.Token
		if key, err = dec.Token(); err == nil {
			r.keys = append(r.keys, fmt.Sprint(key))
			err = dec.Decode(new(json.RawMessage))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readLines reads a file of JSON lines.
func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return decodeLines[T](t, data)
}

func decodeLines[T any](t *testing.T, data []byte) (lines []T) {
	t.Helper()
	for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); {
		var line T
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}
