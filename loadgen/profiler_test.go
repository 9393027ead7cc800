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
	p := profiler{voice{Quiet{}, new(Plan)}, &openai.Server{URL: server.URL}, true, true}
	if p.stop(ctx); !stopped || p.asked {
		t.Error("the profiler goes on")
	}
}
