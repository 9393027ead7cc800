package metrics

import "testing"

func BenchmarkCollectorPerToken(b *testing.B) {
	records := requests(1000)
	tokens := 0
	for _, r := range records {
		tokens += r.Tokens.Out
	}
	c := NewCollector(&Header{})
	c.Cap = 1
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, r := range records {
			c.Add(r)
		}
		n += tokens
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/token")
}
