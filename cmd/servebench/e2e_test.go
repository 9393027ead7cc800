//go:build e2e || servers

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

const (
	chatPath = "/v1/chat/completions"
	textPath = "/v1/completions"

	numPrompts = 200
	outputLen  = 16
)

// counts is what a run comes to, wherever it is written down.
type counts struct{ completed, failed, input, output int }

// TestE2E loads a real inference server through a proxy, as a user would, and
// holds everything that servebench leaves behind against what an independent
// client reads from the very same streams.
func TestE2E(t *testing.T) {
	program, url := buildServebench(t), startOllama(t, installOllama(t))
	program.load(t, peer{url: url, model: modelName})
	t.Run("its own API", func(t *testing.T) { program.ownAPI(t, url) })
}

// A peer is a server that is loaded.
type peer struct {
	url, model string
	undone     bool     // it ends a stream without [DONE]
	text       []string // flags that its completions need
}

// load puts loads of both kinds on a server, and checks what comes of them.
func (s servebench) load(t *testing.T, p peer) {
	for _, api := range []struct {
		backend, path string
		flags         []string
	}{{"openai-chat", chatPath, nil}, {"openai", textPath, p.text}} {
		for _, load := range [][]string{{"--request-rate", "20"}, {"--max-concurrency", "8"}} {
			t.Run(api.backend+strings.Join(load, "="), func(t *testing.T) {
				proxy := newRecorder(t, p)
				r := s.run(t, slices.Concat(load, api.flags, []string{
					"--model", p.model, "--backend", api.backend, "--endpoint", api.path, "--base-url", proxy.URL})...)
				check(t, r, proxy.tally(t, api.path))
			})
		}
	}
}

// check compares the results of a run with what the proxy saw of it.
func check(t *testing.T, r *results, seen tally) {
	t.Helper()
	if seen.requests != numPrompts || seen.output != numPrompts*outputLen {
		t.Errorf("the server answered %d requests with %d tokens, want %d with %d each",
			seen.requests, seen.output, numPrompts, outputLen)
	}
	want := counts{completed: numPrompts, input: seen.input, output: seen.output}
	for _, got := range []struct {
		in string
		counts
	}{{"the block", r.block()}, {"the record stream", r.stream.counts}, {"the result file", r.file.counts()}} {
		if got.counts != want {
			t.Errorf("%s has %+v, the proxy saw %+v", got.in, got.counts, want)
		}
	}
	if r.stream.chunks != seen.chunks {
		t.Errorf("the record stream has %d chunks, the proxy saw %d", r.stream.chunks, seen.chunks)
	}
	if !slices.Equal(slices.Sorted(slices.Values(r.file.Texts)), slices.Sorted(slices.Values(seen.texts))) {
		t.Error("the texts in the result file are not those that the proxy saw")
	}
	if r.reported == "" || !strings.HasSuffix(r.stdout, r.reported) {
		t.Errorf("servebench report prints another block:\n%s", r.reported)
	}
}

// servebench is the path of the built program.
type servebench string

func buildServebench(t *testing.T) servebench {
	t.Helper()
	program := filepath.Join(t.TempDir(), "servebench")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return servebench(program)
}

// results is all that a run leaves behind.
type results struct {
	stdout   string
	stream   recordStream
	file     resultFile
	reported string // what servebench report makes of the record stream
}

// run is one load test with the ShareGPT prompts and the given flags.
func (s servebench) run(t *testing.T, flags ...string) *results {
	t.Helper()
	dataset, err := filepath.Abs("../../testdata/golden/sharegpt_input.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	stream, file := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "run.json")
	r := &results{stdout: s.exec(t, append([]string{"run",
		"--tokenizer", "stub-32000",
		"--dataset-name", "sharegpt", "--dataset-path", dataset, "--num-prompts", strconv.Itoa(numPrompts),
		"--sharegpt-output-len", strconv.Itoa(outputLen), "--extra-body", `{"max_tokens":16}`,
		"-o", stream, "--save-result", "--save-detailed", "--result-dir", dir, "--result-filename", "run.json",
	}, flags...)...)}
	t.Logf("servebench run %s\n%s", strings.Join(flags, " "), r.stdout)
	r.stream = readStreamFile(t, stream)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r.file); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	r.reported = s.exec(t, "report", stream)
	return r
}

// exec runs one command line to its end and gives its stdout.
func (s servebench) exec(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, string(s), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("servebench %s: %v\n%s\n%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	if _, beside, found := strings.Cut(stderr.String(), " Additional metrics "); found {
		t.Log("Additional metrics", beside)
	}
	return stdout.String()
}

// block reads the counts off the printed result block; -1 stands for a line that
// is not there.
func (r *results) block() counts {
	line := func(label string) int {
		m := regexp.MustCompile(`(?m)^` + label + `: +(\d+) *$`).FindStringSubmatch(r.stdout)
		if m == nil {
			return -1
		}
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return counts{
		completed: line("Successful requests"),
		failed:    line("Failed requests"),
		input:     line("Total input tokens"),
		output:    line("Total generated tokens"),
	}
}

// A resultFile is what is compared of vLLM's result file.
type resultFile struct {
	Completed int      `json:"completed"`
	Failed    int      `json:"failed"`
	Input     int      `json:"total_input_tokens"`
	Output    int      `json:"total_output_tokens"`
	Texts     []string `json:"generated_texts"`
}

func (f resultFile) counts() counts { return counts{f.Completed, f.Failed, f.Input, f.Output} }

// A recordStream is what is compared of a record stream.
type recordStream struct {
	counts
	chunks int
}

func readStreamFile(t *testing.T, name string) recordStream {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sum recordStream
	for entry, err := range stream.NewReader(f).Entries() {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rec := entry.Record
		switch {
		case rec == nil:
		case rec.Result.Class != record.OK:
			sum.failed++
		default:
			sum.completed++
			sum.input += rec.Tokens.In
			sum.output += rec.Tokens.Out
			sum.chunks += rec.Answer.Chunks.Len()
		}
	}
	return sum
}
