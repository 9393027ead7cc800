package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAIPerfsFigureOfLagIsRead(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]float64{
		`{"credit_to_start_latency": {"unit": "ms", "avg": 6.5, "p99": 10.6}}`:                                        10.6,
		`{"replay_sched_lag_p99": {"unit": "ms", "avg": 56.2}, "credit_to_start_latency": {"avg": 3.9, "p99": 36.3}}`: 56.2,
		`{}`: -1,
	} {
		if err := os.WriteFile(filepath.Join(dir, "profile_export_aiperf.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := course{Lag: -1}
		if err := readReplaySummary(nil, dir, &c); err != nil || c.Lag != want {
			t.Errorf("%s: lag %v, %v, want %v", text, c.Lag, err, want)
		}
	}
}
