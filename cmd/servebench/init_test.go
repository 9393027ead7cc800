package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Tables, templates and patterns that few command lines need are made when one needs them: a command line pays
// for what the packages allocate before main.
func TestPackagesAllocateLittleBeforeMain(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--version")
	cmd.Args[0] = "servebench"
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &trace)
	}
	const most = 250_000 // bytes
	sum := 0
	for line := range strings.Lines(trace.String()) {
		words := strings.Fields(line) // as init PACKAGE @21 ms, 0.03 ms clock, 9256 bytes, 107 allocs
		if len(words) < 9 || !strings.HasPrefix(words[1], "github.com/servebench/servebench/") || strings.HasSuffix(words[1], "/cmd/servebench") {
			continue
		}
		bytes, err := strconv.Atoi(words[7])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		sum += bytes
	}
	if sum == 0 || sum > most {
		t.Errorf("the packages allocate %d bytes before main, want at most %d\n%s", sum, most, &trace)
	}
}
