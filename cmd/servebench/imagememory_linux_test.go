package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A hoarder answers requests once it has read the bodies of many.
type hoarder struct {
	many int64
	read atomic.Int64
	all  chan struct{} // closed once it has
	size atomic.Int64  // of all bodies, in bytes
	from atomic.Int64  // the process that sends them
	peak atomic.Int64  // its most resident memory until the last body, in bytes
}

func (h *hoarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	n, _ := io.Copy(io.Discard, r.Body)
	h.size.Add(n)
	h.peak.Store(peakOf(h.from.Load()))
	if h.read.Add(1) == h.many {
		close(h.all)
	}
	<-h.all
	io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
}

// peakOf is the most resident memory that a running process had, in bytes; 0 if that is unknown. Maxrss of its
// end would be no less than the memory of the test, which began it.
func peakOf(pid int64) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kib, 10, 64)
	return n << 10
}

// TestMemoryOfImages sends images of 512 by 512 pixels, all at once and 64 at once, to a server that
// answers once it has read as many. FULL=1 sends ten thousand. A body takes 211 kB.
func TestMemoryOfImages(t *testing.T) {
	if raced {
		t.Skip("the race detector takes several times the memory")
	}
	if testing.Short() {
		t.Skip("four hundred images: in go test without -short")
	}
	t.Parallel()
	requests, most := 200, int64(160<<20)
	if os.Getenv("FULL") == "1" {
		requests, most = 10000, 512<<20
	}
	for _, c := range []struct {
		flags    []string
		inFlight int
	}{{nil, requests}, {[]string{"--max-concurrency", "64"}, 64}} {
		h := &hoarder{many: int64(c.inFlight), all: make(chan struct{})}
		server := httptest.NewServer(h)
		cmd := exec.CommandContext(t.Context(), program(t, t.TempDir()), append([]string{
			"run", "--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--base-url", server.URL, "--model", "m", "--tokenizer", "stub-32000",
			"--dataset-name", "random-mm", "--random-mm-bucket-config", "{(512, 512, 1): 1}", "--random-input-len", "8", "--random-output-len", "1",
			"--num-prompts", strconv.Itoa(requests), "--ready-check-timeout-sec", "0",
		}, c.flags...)...)
		var talk bytes.Buffer
		cmd.Stderr = &talk
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		h.from.Store(int64(cmd.Process.Pid))
		err := cmd.Wait()
		server.Close()
		if err != nil {
			t.Fatalf("%v\n%s", err, &talk)
		}
		resident := h.peak.Load()
		if resident < h.size.Load()/int64(requests)*int64(min(c.inFlight, 64)) || resident > most {
			t.Errorf("%v: %d MiB resident, want at most %d", c.flags, resident>>20, most>>20)
		}
		t.Logf("%v: %d MiB of bodies, %d MiB resident", c.flags, h.size.Load()>>20, resident>>20)
	}
}
