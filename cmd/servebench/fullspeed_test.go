//go:build soak && linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

const (
	// speedTokens are those of an answer: so many that gaps between tokens and requests
	// reach the bounds on exact values at about the same time.
	speedTokens = 12

	// bytesExact and bytesGap are what a Collector says that it keeps of a request and of
	// a chunk, up to a million requests and metrics.DefaultCap gaps; bytesPrompt is what a
	// memory of as many prompts does.
	bytesExact, bytesPrompt, bytesGap, exactRequests = 130, 48, 8, 1_000_000

	// spare is what else may be added: a few percent of what is there.
	spare = 0.05
)

// At full speed a run takes no more memory in the second half of its time than in
// the first, but for the exact values that it still keeps.
func TestMemoryAtFullSpeedIsFlat(t *testing.T) {
	lasts := 10 * time.Minute
	if text := os.Getenv("SOAK_TIME"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	var answered atomic.Int64
	url := quickServer(t, &answered)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program(t, dir), "run", "--base-url", url, "--model", "m", "--tokenizer", "stub-32000", "--duration", lasts.String(),
		"--max-concurrency", "64", "--random-input-len", "8", "--random-output-len", fmt.Sprint(speedTokens),
		"-o", os.DevNull, "--hlog", filepath.Join(dir, "run.hlog"), "--metrics-addr", "127.0.0.1:0")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	f, err := watchMemory(cmd.Process.Pid, &answered, ended)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	fmt.Println(&out)
	f.print()
	f = f.until(lasts) // and not while it is summed up
	half := f[len(f)/2:]
	before, after := half[:len(half)/2], half[len(half)/2:]
	// The collector lets garbage grow to the size of what is in use.
	kept := 2 * (exactBytes(after[len(after)-1].answered) - exactBytes(before[0].answered))
	limit := int64((1+spare)*float64(before.most())) + kept
	fmt.Printf("at most %d MB in the third quarter and %d MB in the last, where %d MB are to be expected; %.1f bytes a request in the last half\n",
		before.most()>>20, after.most()>>20, limit>>20, half.slope())
	if after.most() > limit {
		t.Errorf("%d MB, where at most %d MB are to be expected", after.most()>>20, limit>>20)
	}
}

// exactBytes are those that are kept of so many requests.
func exactBytes(requests int64) int64 {
	return (bytesExact+bytesPrompt)*min(requests, exactRequests) + bytesGap*min(requests*(speedTokens-1), metrics.DefaultCap)
}

// quickServer answers at once, and counts.
func quickServer(t *testing.T, answered *atomic.Int64) (url string) {
	t.Helper()
	token := `data: {"choices":[{"text":" a"}]}` + "\n\n"
	text := strings.Repeat(token, speedTokens) +
		fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":%d}}`, speedTokens) + "\n\ndata: [DONE]\n\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/completions" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
		answered.Add(1)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
