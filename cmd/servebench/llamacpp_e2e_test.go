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

// TestE2ELlamaCpp loads llama.cpp's server directly, since that closes connections
// right after streamed answers, in closed loops, where a request often meets a
// closing one. All have to succeed, and to come to what the server itself counted.
func TestE2ELlamaCpp(t *testing.T) {
	program := buildServebench(t)
	server, model := buildLlamaCpp(t, t.TempDir())
	url := listening(t, exec.CommandContext(t.Context(), server))
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

// buildLlamaCpp builds the program that serves a tiny model in a folder, and gives the model's path.
func buildLlamaCpp(t *testing.T, dir string) (program, model string) {
	t.Helper()
	program = filepath.Join(dir, "llamacpp")
	if out, err := exec.CommandContext(t.Context(), "go", "-C", "../../tools", "build", "-o", program, "./llamacpp").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "-install").Output()
	if err != nil {
		notHad(t, "llama.cpp's server: %v", err)
	}
	return program, strings.TrimSpace(string(out))
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
