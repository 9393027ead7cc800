package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// startSim runs the verb and returns its URL and a function that waits for its
// end.
func startSim(t *testing.T, ctx context.Context, args ...string) (url string, wait func() error) {
	t.Helper()
	url, wait, err := launchSim(ctx, args)
	if err != nil {
		t.Fatal(err)
	}
	return url, wait
}

func launchSim(ctx context.Context, args []string) (url string, wait func() error, err error) {
	out, in := io.Pipe()
	cmd := newSimCommand()
	cmd.SetArgs(append([]string{"--port", "0"}, args...))
	cmd.SetOut(in)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		in.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		return "", nil, fmt.Errorf("printed %q", line)
	}
	return url, func() error { return <-ended }, nil
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestSimServesUntilItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ready := filepath.Join(t.TempDir(), "url")
	url, wait := startSim(t, ctx, "--served-model-name", "small", "--max-model-len", "77", "--ready-file", ready)
	if models := fetch(t, url+"/v1/models"); !strings.Contains(models, `"id":"small"`) || !strings.Contains(models, `"max_model_len":77`) || !strings.Contains(models, `"root":"stub-32000"`) {
		t.Errorf("/v1/models: %s", models)
	}
	if said, err := os.ReadFile(ready); err != nil || string(said) != url+"\n" {
		t.Errorf("the ready file holds %q, %v, want %s", said, err, url)
	}
	cancel()
	if err := wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := http.Get(url + "/health"); err == nil {
		t.Error("still serving")
	}
}

func TestSimMisbehavesAsToldTo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, wait := startSim(t, ctx, "--fault", "status=418", "--fault-every", "1")
	resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"tok1"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTeapot {
		t.Errorf("status %d, want 418", resp.StatusCode)
	}
	cancel()
	wait()
}

func TestSimWritesARequestLog(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "log.jsonl")
	url, wait := startSim(t, ctx, "--request-log", path, "--slow", "queue=7ms,network=3ms", "--front-end", "2ms", "--enable-per-request-metrics")
	resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"tok1","max_tokens":3}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Metrics struct {
			Queue float64 `json:"queue_time_ms"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	var logged struct {
		Spans  map[string]float64 `json:"spans_ms"`
		Tokens int                `json:"output_tokens"`
	}
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &logged) != nil {
		t.Fatalf("the log is %q, %v", text, err)
	}
	took := logged.Spans
	if took["queue"] != answer.Metrics.Queue || took["queue"] < 7 || took["front_end"] < 2 || took["network"] != 3 || logged.Tokens != 3 {
		t.Errorf("the log has %+v, and the answer's queue is %v", logged, answer.Metrics.Queue)
	}
}

func TestSimRefusesBadFlags(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, row := range []struct {
		args, says string
		code       int
	}{
		{"--fault nonsense", `--fault: there is no fault "nonsense"`, 0},
		{"--fault-every 3", "need --fault", 0},
		{"--model no/such/model", "--tokenizer: ", 0},
		{"--max-num-batched-tokens 8", "max-num-batched-tokens (8)", 0},
		{"--max-num-seqs 0", "--max-num-seqs", 0},
		{"--lead role --lead-tokens 3", "reasoning_content", 0},
		{"--profile mps-solo --jitter 0", "--jitter: the profile says it", 0},
		{"--profile mps-solo --front-end 1ms", "--front-end: the profile says it", 0},
		{"--slow decode=1ms", `--slow: "decode" is no span: it must be queue, prefill, front-end, network, generation`, 0},
		{"--port 0 --request-log /no/such/folder/log", "--request-log: open /no/such/folder/log", exitNo},
		{"--profile mps-solo --step-base 1ms", "--step-base: the profile says it", 0},
		{"--num-gpu-blocks-override 8", "must hold a request of max-model-len (32768)", 0},
		{"--servers 0", "--servers", 0},
		{"--servers 2 --uds /no/such/socket", "1 with --uds", 0},
		{"--servers 3 --port 8100,8101", `--port: "8100,8101": it must be one port, or as many as --servers (3)`, 0},
		{"--port 8100,8101", "as many as --servers (1)", 0},
		{"--port 8100, --servers 2", `--port: "8100,": it must be a port from 0 to 65535, or one for each`, 0},
		{"--port 65536", "from 0 to 65535", 0},
		{"--profile nobody", "--profile: nobody is neither a file nor a built-in profile", 0},
		{"--profile prefill-decode --max-num-seqs 9000", "max-num-batched-tokens (8192) must hold", 0},
		{"--nonsense", "unknown flag --nonsense", 0},
		{"--step-bas 1ms --max-num-s many", "argument --max-num-seqs: invalid int value: 'many'", 0},
		{"--step", "ambiguous option: --step could match --step-base, --step-per-sequence, --step-per-prompt-token", 0},
		{"--jitter", "argument --jitter: expected one argument", 0},
		{"--enable_prefix_caching=yes", "argument --enable-prefix-caching: ignored explicit argument 'yes'", 0},
		{"argument", "unrecognized arguments: argument: this command takes flags alone", 0},
		{"--port " + port, "address already in use", exitNo},
		{"--port 0 --ready-file /no/such/folder/url", "/no/such/folder/url", exitNo},
	} {
		cmd := newSimCommand()
		cmd.SetArgs(strings.Fields(row.args))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		err := cmd.ExecuteContext(t.Context())
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want it to say %q", row.args, err, row.says)
			continue
		}
		var exit exitError
		if errors.As(err, &exit); exit.code != row.code {
			t.Errorf("%s: exit code %d, want %d", row.args, exit.code, row.code)
		}
	}
}

func TestSimServersHaveThePortsListed(t *testing.T) {
	for _, row := range []struct {
		port    string
		servers int
		want    []int
	}{
		{"8100", 1, []int{8100}},
		{"8100", 3, []int{8100, 8101, 8102}},
		{"0", 2, []int{0, 0}},
		{"12346,30000,0", 3, []int{12346, 30000, 0}},
	} {
		o := simOptions{port: row.port, servers: row.servers}
		if got, err := o.ports(); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("--port %s --servers %d: %v, %v, want %v", row.port, row.servers, got, err, row.want)
		}
	}
}

func TestSimServersShareAGPU(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ready := filepath.Join(t.TempDir(), "urls")
	_, wait := startSim(t, ctx, "--servers", "2", "--ready-file", ready)
	said, err := os.ReadFile(ready)
	urls := strings.Fields(string(said))
	if err != nil || len(urls) != 2 || urls[0] == urls[1] {
		t.Fatalf("the ready file holds %q, %v, want two URLs", said, err)
	}
	for _, url := range urls {
		if models := fetch(t, url+"/v1/models"); !strings.Contains(models, "stub-32000") {
			t.Errorf("%s: %s", url, models)
		}
	}
	cancel()
	if err := wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	for _, url := range urls {
		if _, err := http.Get(url + "/health"); err == nil {
			t.Errorf("%s is still serving", url)
		}
	}
}

func TestSimProfileSetsWhatNoFlagDoes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for want, args := range map[string][]string{
		`"max_model_len":131072`: {"--profile", "sweep-80"},
		`"max_model_len":4000`:   {"--profile", "sweep-80", "--max-model-len", "4000"},
	} {
		url, _ := startSim(t, ctx, args...)
		if models := fetch(t, url+"/v1/models"); !strings.Contains(models, want) {
			t.Errorf("%v: %s, want %s", args, models, want)
		}
	}
}
