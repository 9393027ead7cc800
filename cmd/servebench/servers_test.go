//go:build servers

package main_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestServers loads the servers of make servers as TestE2E does. What each of them
// needs to be given is in docs/connect.md.
func TestServers(t *testing.T) {
	program := buildServebench(t)
	t.Run("ollama", func(t *testing.T) {
		url := startOllama(t, fetched(t, "OLLAMA"))
		program.load(t, peer{url: url, model: modelName})
		program.ownAPI(t, url)
	})
	t.Run("LiteLLM", func(t *testing.T) {
		t.Setenv("OPENAI_API_KEY", proxyKey)
		program.load(t, peer{url: startLiteLLM(t, program), model: "tiny"})
	})
	t.Run("transformers", func(t *testing.T) {
		url, model := startTransformers(t)
		program.load(t, peer{url: url, model: model, undone: true, text: []string{"--drop-body", "repetition_penalty"}})
	})
}

// fetched is a program that make servers fetches. It names the variable that has its
// path; the test is skipped without one.
func fetched(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s is not set", variable)
	}
	return path
}

// proxyKey is the key that LiteLLM wants.
const proxyKey = "sk-test"

// startLiteLLM starts LiteLLM's proxy before a simulated server.
func startLiteLLM(t *testing.T, program servebench) string {
	t.Helper()
	litellm := fetched(t, "LITELLM")
	home := t.TempDir()
	ready := filepath.Join(home, "ready")
	launch(t, exec.CommandContext(t.Context(), string(program), "sim", "--port", "0", "--ready-file", ready,
		"--mean-output-len", "1000000000", "--step-base", "2ms"), func() bool {
		text, err := os.ReadFile(ready)
		return err == nil && len(text) > 0
	})
	sim, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(home, "config.yaml")
	text := fmt.Sprintf("model_list:\n  - model_name: tiny\n    litellm_params: {model: hosted_vllm/stub-32000, api_base: %s/v1, api_key: none}\n",
		strings.TrimSpace(string(sim)))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	host, port := freeAddress(t)
	serve := exec.CommandContext(t.Context(), litellm, "--config", config, "--host", host, "--port", port, "--telemetry", "False")
	serve.Env = append(os.Environ(), "HOME="+home, "LITELLM_MASTER_KEY="+proxyKey, "LITELLM_LOCAL_MODEL_COST_MAP=True")
	url := "http://" + host + ":" + port
	launch(t, serve, answering(url+"/health/readiness"))
	return url
}

// startTransformers starts transformers serve with a tiny model, whose name is its folder.
func startTransformers(t *testing.T) (url, model string) {
	t.Helper()
	transformers := fetched(t, "TRANSFORMERS")
	home := t.TempDir()
	model = filepath.Join(home, "tiny")
	write := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(transformers), "python"), "testdata/servers/tinymodel.py", model)
	write.Env = append(os.Environ(), "HOME="+home)
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("writing the model: %v\n%s", err, out)
	}
	host, port := freeAddress(t)
	serve := exec.CommandContext(t.Context(), transformers, "serve", model, "--host", host, "--port", port, "--device", "cpu")
	serve.Env = append(os.Environ(), "HOME="+home, "HF_HUB_OFFLINE=1", "OMP_NUM_THREADS=1",
		"PYTHONPATH="+os.Getenv("ACCELERATE"))
	url = "http://" + host + ":" + port
	launch(t, serve, answering(url+"/health"))
	return url, model
}

// freeAddress is one of the loopback on which nothing listens.
func freeAddress(t *testing.T) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// answering says whether a URL answers 200.
func answering(url string) func() bool {
	return func() bool {
		reply, err := http.Get(url)
		if err != nil {
			return false
		}
		reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	}
}

// launch starts a server and waits until it is ready. It is ended with the test; what
// it printed is shown if the test failed.
func launch(t *testing.T, cmd *exec.Cmd, ready func() bool) {
	t.Helper()
	var printed lockedBuffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		<-ended
		if t.Failed() {
			t.Logf("the end of what %s printed:\n%s", filepath.Base(cmd.Path), printed.tail())
		}
	})
	for range 1200 {
		if ready() {
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended before it was ready", filepath.Base(cmd.Path))
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("%s is not ready after two minutes", filepath.Base(cmd.Path))
}

// A lockedBuffer is a buffer that one goroutine writes to while another one reads.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// tail is the last part of what was written.
func (b *lockedBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text.String()
	return text[max(0, len(text)-8000):]
}
