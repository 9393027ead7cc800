package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// mostResident is how much memory a command may take for a hundred thousand sessions of a hundred
// turns, in bytes.
const mostResident = 512 << 20

// TestMemoryOfSessions prints sessions of a hundred turns and runs them, 64 at once. FULL=1 prints a
// hundred thousand, and runs them for a minute.
func TestMemoryOfSessions(t *testing.T) {
	if raced {
		t.Skip("the race detector takes several times the memory")
	}
	if testing.Short() {
		t.Skip("two thousand sessions: in go test without -short")
	}
	t.Parallel()
	sessions, lasts := "1000", "1s"
	if os.Getenv("FULL") == "1" {
		sessions, lasts = "100000", "1m"
	}
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: time.Microsecond}, Limits: sim.Limits{NumBatchedTokens: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(engine)
	defer func() { server.Close(); engine.Close() }()
	for _, command := range [][]string{
		{"dataset", "--num-prompts", sessions},
		{"run", "--num-prompts", "100000", "--max-sessions", "64", "--duration", lasts, "--base-url", server.URL, "--trace-gap-cap", "10ms", "-o", os.DevNull, "--ignore-eos"},
	} {
		cmd := exec.CommandContext(t.Context(), program(t, t.TempDir()), append(command, "--dataset-name", "sessions", "--tokenizer", "stub-32000",
			"--session-turns", "100", "--session-systems", "10", "--session-system-len", "1024", "--session-first-len", "64",
			"--session-input-len", "uniform:min=64,max=255", "--session-output-len", "uniform:min=1,max=4",
			"--session-think-time", "uniform:min=0.5,max=4.4")...)
		var talk bytes.Buffer
		cmd.Stderr = &talk
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", command[0], err, &talk)
		}
		resident := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		if resident > mostResident {
			t.Errorf("%s took %d MiB, want at most %d", command[0], resident>>20, mostResident>>20)
		}
		t.Logf("%s took %d MiB", command[0], resident>>20)
	}
}
