package server

import (
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/loadtest"
)

func TestServerKeepsItsSLO(t *testing.T) {
	load := loadtest.Load{URL: "http://127.0.0.1:8000", Requests: 1200, Rate: 20, InputLen: 256, OutputLen: 64}
	load.Test(t, loadtest.SLO{TTFT: loadtest.Latency{P99: 500 * time.Millisecond}})
}
