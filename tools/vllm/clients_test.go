//go:build vllm

package vllm_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// A client runs a command line of vllm bench serve and gives what it leaves.
type client interface {
	run(t *testing.T, argv []string) *results
}

// ours is servebench run, as this release of vLLM.
type ours struct{ program, version string }

// folder is the package's. A test may have another working directory.
var folder, _ = os.Getwd()

// venv is the virtual environment of vLLM's client.
func venv() string {
	return filepath.Join(os.Getenv("VLLM"), cmp.Or(os.Getenv("VENV"), "venv"))
}

// build builds servebench once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "servebench-vllm-*")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "servebench")
	cmd := exec.Command("go", "build", "-o", program)
	cmd.Dir = filepath.Join(folder, "../../cmd/servebench")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

func newOurs(t *testing.T, version string) ours {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return ours{program, version}
}

func (o ours) run(t *testing.T, argv []string) *results {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "run.jsonl")
	args := append([]string{"run", "--vllm-version", o.version, "-o", name}, argv...)
	stdout := command(t, o.program, append(args, resultFlags(dir)...))
	r := readResults(t, dir, string(stdout))
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for entry, err := range stream.NewReader(f).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if rec := entry.Record; rec != nil {
			r.succeeded[rec.ID] = rec.Result.Class == record.OK
			if rec.Result.Class != record.OK {
				r.errors[rec.ID] = string(rec.Result.Class)
			}
		}
	}
	return r
}

// theirs is vLLM's client, which runs one command line after another.
type theirs struct {
	lines *json.Encoder
	said  *bufio.Scanner
	talk  *lockedBuffer
}

// newTheirs starts the client of a virtual environment, whole or without torch
// and the engine. It ends with the test.
func newTheirs(t *testing.T, venv string, flags ...string) *theirs {
	t.Helper()
	script := filepath.Join(folder, "testdata", "client.py")
	cmd := exec.CommandContext(t.Context(), filepath.Join(venv, "bin", "python"), append([]string{script}, flags...)...)
	cmd.Env = append(os.Environ(), "VLLM_TARGET_DEVICE=cpu", "HF_HUB_OFFLINE=1", "VLLM_NO_USAGE_STATS=1")
	talk := new(lockedBuffer)
	cmd.Stderr = talk
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); cmd.Wait() })
	said := bufio.NewScanner(stdout)
	said.Buffer(nil, 1<<20)
	return &theirs{json.NewEncoder(stdin), said, talk}
}

func (c *theirs) run(t *testing.T, argv []string) *results {
	t.Helper()
	r, _ := c.plan(t, argv)
	return r
}

// plan also gives the folder with what the client noted of the run.
func (c *theirs) plan(t *testing.T, argv []string) (r *results, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := c.lines.Encode(map[string]any{"argv": append(argv, resultFlags(dir)...), "out": dir}); err != nil {
		t.Fatalf("vLLM's client: %v\n%s", err, c.talk)
	}
	var failure string
	if !c.said.Scan() || json.Unmarshal(c.said.Bytes(), &failure) != nil || failure != "" {
		t.Fatalf("vLLM's client %q: %s%s\n%s", argv, failure, c.said.Bytes(), c.talk)
	}
	stdout, err := os.ReadFile(filepath.Join(dir, "stdout.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r = readResults(t, dir, string(stdout))
	for _, o := range readLines[struct {
		ID, Error string
		Success   bool
	}](t, filepath.Join(dir, "outcomes.jsonl")) {
		r.succeeded[o.ID] = o.Success
		if !o.Success {
			// Of a traceback, the last line says what was raised.
			lines := strings.Split(strings.TrimSpace(o.Error), "\n")
			kind, _, _ := strings.Cut(lines[len(lines)-1], ":")
			r.errors[o.ID] = kind
		}
	}
	return r, dir
}

// command runs a program and gives its stdout.
func command(t *testing.T, program string, args []string) []byte {
	t.Helper()
	var talk bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, talk.Bytes())
	}
	return out
}

// A lockedBuffer may be read while a process writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is the last part of it.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.buf.Bytes()
	return string(text[max(0, len(text)-4000):])
}
