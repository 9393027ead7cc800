package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
)

// simHandler is a simulated server.
func simHandler(t *testing.T) http.Handler {
	t.Helper()
	words, err := tokenizer.Open("stub-32000")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(sim.Config{
		Model: "stub-32000", Tokenizer: words, MaxModelLen: 4096, MaxNumSeqs: 8, MaxNumBatchedTokens: 512, MeanOutputLen: 8,
		Cost: sim.Cost{Base: time.Millisecond}, PrefixCaching: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// sweepOn runs a sweep of a plan in which URL stands for a server.
func sweepOn(t *testing.T, server *httptest.Server, plan string) (stdout, stderr string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(plan, "URL", server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, talk strings.Builder
	cmd := newSweepCommand()
	cmd.SetArgs([]string{file})
	cmd.SetOut(&out)
	cmd.SetErr(&talk)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), talk.String(), err
}

const smallRuns = "load: {random-output-len: 3, random-input-len: 40, num-prompts: 2, disable-tqdm: true}\n" +
	"grid: {max-concurrency: [1, 2]}\narms: [{name: a, url: 'URL'}]\n"

// The cache is reset before every run, the first one, too, and before anything
// else is sent.
func TestPrefixCacheIsResetBeforeEachRun(t *testing.T) {
	engine := simHandler(t)
	var mu sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if n := len(paths); n == 0 || paths[n-1] != r.URL.Path {
			paths = append(paths, r.URL.Path)
		}
		mu.Unlock()
		engine.ServeHTTP(w, r)
	}))
	defer server.Close()
	if _, _, err := sweepOn(t, server, smallRuns+"between: {reset-prefix-cache: true}"); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	run := []string{"/reset_prefix_cache", "/v1/models", "/tokenize", "/metrics", "/v1/completions", "/metrics"}
	if got, want := fmt.Sprint(paths), fmt.Sprint(append(run, run...)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestMissingCacheResetIsReported(t *testing.T) {
	engine := simHandler(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/reset_prefix_cache" {
			http.NotFound(w, r)
			return
		}
		engine.ServeHTTP(w, r)
	}))
	defer server.Close()
	out, talk, err := sweepOn(t, server, smallRuns+"between: {reset-prefix-cache: true}")
	if err != nil {
		t.Fatal(err)
	}
	const note = "the prefix cache was not reset: "
	if n := strings.Count(talk, "WARNING: "+note); n != 2 || !strings.Contains(talk, "404") {
		t.Errorf("warned %d times:\n%s", n, talk)
	}
	if n := strings.Count(out, note); n != 2 {
		t.Errorf("the table has it %d times:\n%s", n, out)
	}
}

// A target alone takes its time, and all together take that of the slowest.
func TestTimeOfSeveralTargets(t *testing.T) {
	of := func(args ...string) time.Duration {
		o, err := parseRun(append([]string{"--num-prompts=100"}, args...))
		if err != nil {
			t.Fatal(err)
		}
		return expected(o)
	}
	quick, slow := of("--request-rate=10"), of("--request-rate=5", "--delay=7")
	if slow < quick+17*time.Second {
		t.Errorf("%v and %v", quick, slow)
	}
	targets := []string{"--target", "quick=http://a,request-rate=10", "slow=http://b,request-rate=5,delay=7"}
	if got := of(targets...); got != slow {
		t.Errorf("together %v, want %v", got, slow)
	}
	if got := of(append(targets, "--solo-first")...); got != quick+2*slow {
		t.Errorf("alone and together %v, want %v", got, quick+2*slow)
	}
}

func TestSweepWithoutNvidiaSMIStartsNothing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the server was asked") }))
	defer server.Close()
	_, _, err := sweepOn(t, server, "load: {gpu-metrics: nvidia-smi}\narms: [{name: a, url: 'URL'}]\n")
	if err == nil || !strings.Contains(err.Error(), "argument --gpu-metrics: ") {
		t.Errorf("got %v", err)
	}
}

// planned is a sweep of a plan that is not run.
func planned(t *testing.T, plan string) (*sweepCommand, pace) {
	t.Helper()
	c := &sweepCommand{}
	if err := c.read("plan.yaml", strings.NewReader(plan)); err != nil {
		t.Fatal(err)
	}
	return c, newPace(c)
}

// Runs that fail at once do not let the rest look short.
func TestTimeLeftWithFailures(t *testing.T) {
	_, p := planned(t, "repeats: 4\nload: {num-prompts: 100, request-rate: 10}")
	done := []sweep.Entry{{Cell: "server/1/1", Failed: "x", Seconds: 0.1}}
	if left, known := p.left(done); known {
		t.Errorf("%v are left, by a run that failed", left)
	}
	done = append(done, sweep.Entry{Cell: "server/1/2", Seconds: 30})
	if left, _ := p.left(done); left.Round(time.Second) != time.Minute {
		t.Errorf("%v are left of two runs of 30 s", left)
	}
}

// What decides a search is said beside what vLLM calls TTFT, where that is something else.
func TestALineOfASweepSaysWhichTTFTDecides(t *testing.T) {
	for empty, want := range map[bool]string{
		false: "  2 of 2 requests, 1.00 req/s, mean TTFT 100.00 ms, mean TPOT 10.00 ms\n",
		true:  "  2 of 2 requests, 1.00 req/s, mean TTFT 3.00 ms, mean TPOT 107.00 ms, mean TTFT to the first content 100.00 ms\n",
	} {
		c := metrics.NewCollector(&metrics.Header{})
		for i := range 2 {
			r := &metrics.Record{Index: i, In: 9, Out: 2, FirstContent: 100 * time.Millisecond}
			if empty {
				r.Chunks.Append(3 * time.Millisecond)
			}
			r.Chunks.Append(r.FirstContent)
			r.Chunks.Append(110 * time.Millisecond)
			r.Last, r.End = r.Chunks.Last(), r.Chunks.Last()
			c.Add(r)
		}
		var said strings.Builder
		(&sweepCommand{talk: &said}).tell(c.Summary(2))
		if said.String() != want {
			t.Errorf("%q, want %q", said.String(), want)
		}
	}
}
