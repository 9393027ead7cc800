package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
)

// profiled runs a load on a server that answers both profiler calls with a status,
// and gives what was posted and printed.
func profiled(t *testing.T, status int, argv string) (posted []string, out, talk string) {
	t.Helper()
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "tokenize") {
			mu.Lock()
			posted = append(posted, r.URL.Path)
			mu.Unlock()
		}
		if strings.HasSuffix(r.URL.Path, "_profile") {
			w.WriteHeader(status)
			return
		}
		engine.ServeHTTP(w, r)
	}))
	defer server.Close()
	o := mustParse(t, argv+" --profile --num-prompts 2 --num-warmups 1 --random-input-len 4 --random-output-len 2 --base-url", server.URL)
	var stdout, stderr bytes.Buffer
	if err := newExperiment(o, &stdout, &stderr).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return posted, stdout.String(), stderr.String()
}

func TestProfilerRunsFromBeforeTheLoadToBehindTheBlock(t *testing.T) {
	posted, out, _ := profiled(t, http.StatusOK, "")
	const v1 = "/v1/completions"
	if want := []string{v1, "/start_profile", v1, v1, "/stop_profile"}; !slices.Equal(posted, want) {
		t.Errorf("posted %v, want %v", posted, want)
	}
	want := []string{
		"Warmup run completed.\nStarting main benchmark run...\nStarting profiler...\nProfiler started\nTraffic request rate: inf\n",
		"==================================================\nStopping profiler...\nProfiler stopped\n",
	}
	if !strings.Contains(out, want[0]) || !strings.HasSuffix(out, want[1]) {
		t.Errorf("printed:\n%s", out)
	}
}

// vLLM's client asks a profiler to stop that did not start, and says so.
func TestServerWithoutAProfilerIsSaidAndLoaded(t *testing.T) {
	posted, out, talk := profiled(t, http.StatusNotFound, "")
	const v1 = "/v1/completions"
	if want := []string{v1, "/start_profile", v1, v1, "/stop_profile"}; !slices.Equal(posted, want) {
		t.Errorf("posted %v, want %v", posted, want)
	}
	if strings.Contains(out, "Profiler started") || !strings.HasSuffix(out, "==================================================\nStopping profiler...\n") ||
		!strings.Contains(out, "Starting profiler...\nTraffic request rate: inf\n") || !strings.Contains(out, "Successful requests:                     2 ") {
		t.Errorf("printed:\n%s", out)
	}
	if strings.Contains(talk, "/stop_profile") {
		t.Errorf("said twice:\n%s", talk)
	}
	if !strings.Contains(talk, "/start_profile: 404 Not Found; the run goes on without a profile: start vLLM with VLLM_TORCH_PROFILER_DIR set") {
		t.Errorf("said:\n%s", talk)
	}
}

func TestProbesAreInTheSummaryAndNotAmongTheRecords(t *testing.T) {
	engine := new(wireServer)
	o := mustParse(t, "--probe-request-rate 1000 --num-prompts 5 --request-rate 50 --max-concurrency 1 --random-input-len 4 --random-output-len 2 --base-url", engine.start(t))
	e := newExperiment(o, io.Discard, io.Discard)
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := e.done[0]
	if s.Summary.Completed != 5 || s.Summary.Printed.Probes == nil || s.Summary.Printed.Probes.Completed == 0 || s.Summary.Printed.Probes.Completed+s.Summary.Printed.Probes.Failed != len(engine.nameless) {
		t.Errorf("%d requests, probes %+v; the server saw %d requests without an id", s.Summary.Completed, s.Summary.Printed.Probes, len(engine.nameless))
	}
}
