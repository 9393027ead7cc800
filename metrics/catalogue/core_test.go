package catalogue

import (
	"math"
	"testing"

	"github.com/servebench/servebench/metrics"
)

// One request in ten takes 91 ms or more for a token, so one user in ten gets 10.99 tokens a second at most.
func TestSlowUsersGetFewTokensASecond(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{})
	for i := range 101 {
		tpot := float64(i+1) / 1000
		c.AddOutcome(metrics.Outcome{Success: true, Out: 11, Latency: 10 * tpot})
	}
	s := c.Summary(1)
	for key, want := range map[string]float64{"p50_user_tokens_per_s": 1000.0 / 51, "p10_user_tokens_per_s": 1000.0 / 91, "p1_user_tokens_per_s": 10} {
		n, known := Find(key)
		if got := n.Of(s); !known || math.Abs(got-want) > 1e-9*want || n.Few(s) != (n.Percentile == 1) {
			t.Errorf("%s is %v, want %v; few %v", key, got, want, n.Few(s))
		}
		if got := n.Of(metrics.Unknown()); !math.IsNaN(got) {
			t.Errorf("%s is %v of nothing", key, got)
		}
	}
}
