package metrics

import (
	"iter"
	"time"
)

// LatencyNames are those that Latencies yields.
var LatencyNames = []string{"ttft", "tpot", "itl", "e2el", "queue", "lag"}

// Latencies yields the values of r that count in the Distributions of a Summary,
// with their names: those of a request that completed, its inter-token latencies
// one by one, and how late it was sent, completed or not. A warm-up's request has none,
// and one whose answer came before it was sent has its lag alone.
func (r *Record) Latencies() iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		if r.Phase == Main && !yield("lag", r.Lag()) {
			return
		}
		if r.Phase == WarmUp || r.Class != OK || r.impossible() || !yield("queue", r.Queue()) || !yield("ttft", r.TTFT()) || !yield("e2el", r.E2EL()) {
			return
		}
		if r.Out > 1 && !yield("tpot", r.TPOT()) {
			return
		}
		for gap := range r.Chunks.Gaps() {
			if !yield("itl", gap) {
				return
			}
		}
	}
}
