package loadgen

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/servebench/servebench/loadgen/openai"
)

func TestProfilerOfAnInterruptedRunIsStopped(t *testing.T) {
	stopped := false
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stopped = r.URL.Path == "/stop_profile" }))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &target{Plan: new(Plan), observer: Quiet{}, connection: &connection{server: &openai.Server{URL: server.URL}}, profiling: true, profiled: true}
	if b.stopProfiler(ctx); !stopped || b.profiling {
		t.Error("the profiler goes on")
	}
}
