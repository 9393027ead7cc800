package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A resultCase is a whole run of vLLM 0.33.0's client with what it printed and wrote.
// Its numbers are of that run.
type resultCase struct {
	Name    string
	Argv    []string
	Env     map[string]string
	Stdout  string
	Files   []string
	Keys    []string `json:"result_keys"`
	Result  string   `json:"result_json"`
	PyTorch string   `json:"pytorch_json"`
}

func TestFilesAndLinesAreThoseOfVLLM033(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	var file struct{ Cases []resultCase }
	readGolden(t, "results-0.33.json", &file)
	if len(file.Cases) != 20 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			inInputs(t)
			for name, value := range c.Env {
				t.Setenv(name, value)
			}
			out, dir := c.run(t)
			c.checkLines(t, out)
			files := list(t, dir)
			result := fileOf(t, dir, files[0])
			c.checkResult(t, result)
			switch {
			case c.Name == "pytorch-no-filename": // vLLM's client dies before this file
				if len(files) != 2 || files[1] != strings.TrimSuffix(files[0], "json")+"pytorch.json" {
					t.Errorf("files %q", files)
				}
			case len(files) != len(c.Files):
				t.Errorf("files %q, want %q", files, c.Files)
			case c.PyTorch != "":
				alike(t, "", parsed(t, golden(c.PyTorch)), parsed(t, fileOf(t, dir, c.Files[1])))
			}
		})
	}
}

// run makes the run, and gives what it printed and where its files are.
func (c *resultCase) run(t *testing.T) (out, dir string) {
	t.Helper()
	recorder := new(wireRecorder)
	if strings.Contains(c.Result, `"server_`) || strings.HasSuffix(c.Name, "server-metrics-not-detailed") {
		recorder.metrics = `,"metrics":{"time_to_first_token_ms":12.5,"generation_time_ms":3.25,"queue_time_ms":0.5}`
	}
	server := httptest.NewServer(recorder)
	defer server.Close()
	dir = t.TempDir()
	argv := append(slices.Clone(c.Argv), "--port", server.URL[strings.LastIndex(server.URL, ":")+1:], "--model", "m",
		"--tokenizer", "../tok-plain", "--request-id-prefix", "b-", "--disable-tqdm", "--save-result", "--result-dir", dir)
	if c.Name != "pytorch-no-filename" {
		argv = append(argv, "--result-filename", c.Files[0])
	}
	o, err := parseRun(argv)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := newExperiment(o, &b, io.Discard).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b.String(), dir
}

// checkLines compares lines but for numbers that a clock decided.
func (c *resultCase) checkLines(t *testing.T, out string) {
	t.Helper()
	lines := func(text string) (all []string) {
		for line := range strings.Lines(text) {
			label, _, found := strings.Cut(line, ":")
			timed := found && strings.Contains(label, "(")
			for _, word := range []string{"Peak", "Probe requests completed"} {
				timed = timed || strings.HasPrefix(label, word)
			}
			if timed && !strings.HasPrefix(label, "WARNING") && !strings.HasPrefix(label, "Request rate") {
				line = label + "\n"
			}
			if !strings.HasPrefix(line, "tip:") {
				all = append(all, line)
			}
		}
		return all
	}
	want := strings.TrimSuffix(c.Stdout, "\n")
	if diff := cmp.Diff(lines(want+"\n"), lines(out)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// checkResult compares keys, their order and their types, and all values but those
// that a clock decided. What is ours comes after.
func (c *resultCase) checkResult(t *testing.T, text string) {
	t.Helper()
	got, want := parsed(t, text).(pyjson.Object), parsed(t, golden(c.Result)).(pyjson.Object)
	if len(want) != len(c.Keys) || len(got) < len(want) {
		t.Fatalf("%d members, want %d", len(got), len(want))
	}
	alike(t, "", want, got[:len(want)])
	for _, m := range got[len(want):] {
		if !slices.Contains([]string{"truth", "run_id", "server", "trust"}, m.Key) {
			t.Errorf("%s is not vLLM's", m.Key)
		}
	}
}

// golden is a text with the path of the golden files from their inputs.
func golden(text string) string { return strings.ReplaceAll(text, "GOLDEN", "..") }

func parsed(t *testing.T, text string) any {
	t.Helper()
	v, err := pyjson.Parse(text)
	if err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return v
}

func fileOf(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// list names the files of a folder, a result file before what was made of it.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) })
	return names
}

// measured says whether a clock, or where the run was made, decided what a key has.
func measuredKey(key string) bool {
	switch key {
	case "date", "port", "result_dir", "duration", "request_throughput", "output_throughput", "total_token_throughput", "input_sequence_throughput",
		"request_goodput", "ttfts", "itls", "latencies", "start_times", "queue_times",
		"max_output_tokens_per_s", "max_concurrent_requests", "benchmark_values", "probe_completed":
		return true
	}
	return strings.HasSuffix(key, "_ms")
}

// alike compares two values: the types of all, and what no clock decided.
func alike(t *testing.T, path string, want, got any) {
	t.Helper()
	timed := measuredKey(path[strings.LastIndex(path, "/")+1:]) || strings.HasSuffix(path, "/rtfx") && want != 0.0
	switch w := want.(type) {
	case pyjson.Object:
		g, _ := got.(pyjson.Object)
		if diff := cmp.Diff(keys(w), keys(g)); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", path, diff)
			return
		}
		for i := range w {
			alike(t, path+"/"+w[i].Key, w[i].Value, g[i].Value)
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			t.Errorf("%s: %v, want %v", path, got, want)
			return
		}
		for i := range w {
			alike(t, path, w[i], g[i])
		}
	default:
		if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) || !timed && got != want {
			t.Errorf("%s: %T %v, want %T %v", path, got, got, want, want)
		}
	}
}

func keys(o pyjson.Object) (names []string) {
	for _, m := range o {
		names = append(names, m.Key)
	}
	return names
}
