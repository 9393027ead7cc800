package slicing

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

func TestNumbersOfASlice(t *testing.T) {
	s := &metrics.Slice{
		Window: metrics.Window{From: time.Second, To: 3 * time.Second}, Completed: 4, Output: 50,
		TTFT: metrics.Spread{N: 4, Mean: 100, P99: 130}, Seen: metrics.Seen{KVCache: new(0.25)},
	}
	for key, want := range map[string]float64{
		"from_s": 1, "completed": 4, "output_throughput": 25, "ttft_values": 4, "mean_ttft_ms": 100, "p99_ttft_ms": 130,
		"server_kv_cache": 25, "server_running": math.NaN(),
	} {
		n, known := Find(key)
		if got := n.Value(s); !known || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if n, known := Find("mean_job_ms"); known {
		t.Errorf("%+v", n)
	}
}

func TestEachNumberHasItsKey(t *testing.T) {
	keys := map[string]bool{}
	for _, n := range Numbers() {
		if keys[n.Key] || n.Of == nil {
			t.Errorf("%s", n.Key)
		}
		keys[n.Key] = true
	}
}
