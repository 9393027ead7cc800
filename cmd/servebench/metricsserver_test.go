package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// lockedBuffer is what a command says, while it says it.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

var metricsAddress = regexp.MustCompile(`serving metrics at (http://127\.0\.0\.1:[0-9]+/metrics)\n`)

// watched is a server of one token a request, whose second waits until what the
// metrics at the address that is said show the first to be done.
func watched(t *testing.T, talk *lockedBuffer, want string) (url string, seen func() bool) {
	var mu sync.Mutex
	asked, found := 0, false
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/completions" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		asked++
		address := metricsAddress.FindStringSubmatch(talk.String())
		for range 1000 {
			if asked != 2 || address == nil || found {
				break
			}
			resp, err := http.Get(address[1])
			if err != nil {
				break
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			found = strings.Contains(string(text), want)
		}
		io.WriteString(w, "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(web.Close)
	return web.URL, func() bool { mu.Lock(); defer mu.Unlock(); return found }
}

func TestMetricsAreServedWhileARunGoesOn(t *testing.T) {
	var talk lockedBuffer
	url, seen := watched(t, &talk, `servebench_requests_completed_total{arm="",target="a"} 1`)
	o := mustParse(t, "--target a="+url+" --model m --prompt-token-ids --num-prompts 2 --max-concurrency 1 --ready-check-timeout-sec 0 --disable-tqdm --metrics-addr 127.0.0.1:0")
	if err := newExperiment(o, io.Discard, &talk).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkServed(t, &talk, seen)
}

func TestMetricsAreServedWhileASweepGoesOn(t *testing.T) {
	var talk lockedBuffer
	url, seen := watched(t, &talk, `servebench_requests_completed_total{arm="one",target=""} 1`)
	dir := t.TempDir()
	file := filepath.Join(dir, "one.yaml")
	text := fmt.Sprintf("load: {model: m, prompt-token-ids: true, num-prompts: 2, max-concurrency: 1, disable-tqdm: true, ready-check-timeout-sec: 0}\narms: [{name: one, url: %q}]\n", url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := newSweepCommand()
	cmd.SetArgs([]string{"--metrics-addr", "127.0.0.1:0", "-o", filepath.Join(dir, "one.sweep"), file})
	cmd.SetOut(io.Discard)
	cmd.SetErr(&talk)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkServed(t, &talk, seen)
}

// checkServed checks that the metrics were seen, and are gone.
func checkServed(t *testing.T, talk *lockedBuffer, seen func() bool) {
	t.Helper()
	address := metricsAddress.FindStringSubmatch(talk.String())
	if address == nil || !seen() {
		t.Fatalf("the first request was never among the metrics; said:\n%s", talk)
	}
	if _, err := http.Get(address[1]); err == nil {
		t.Error("the metrics are served still")
	}
}

func TestAnAddressThatCannotBeServedIsAFlagError(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := mustParse(t, "--metrics-addr "+taken.Addr().String())
	if err := newExperiment(o, io.Discard, io.Discard).run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "argument --metrics-addr: listen tcp ") {
		t.Errorf("run: %v", err)
	}
	for _, argv := range []string{"--metrics-addr 9464", "--metrics-addr localhost"} {
		if _, err := parseRun(strings.Fields(argv)); err == nil || !strings.Contains(err.Error(), "argument --metrics-addr: invalid address: ") {
			t.Errorf("%s: %v", argv, err)
		}
	}
}
