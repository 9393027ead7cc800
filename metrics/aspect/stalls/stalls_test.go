package stalls

import (
	"math"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// chunked is a completed request whose chunks came after these gaps.
func chunked(gaps ...time.Duration) *record.Record {
	r := &record.Record{Tokens: record.Tokens{Out: len(gaps) + 1}}
	at := 10 * msec
	r.Answer.Chunks.Append(at)
	for _, gap := range gaps {
		at += gap
		r.Answer.Chunks.Append(at)
	}
	r.Times.Last, r.Times.End = at, at
	return r
}

func TestTheLongestGapOfEachRequestCounts(t *testing.T) {
	whole, failed, gapless := chunked(time.Second), chunked(time.Second), chunked(time.Second, time.Second)
	whole.Answer.Unstreamed, failed.Result.Class, gapless.Answer.Chunks = true, record.Reset, gapless.Answer.Chunks.Ends()
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for _, r := range []*record.Record{chunked(msec, 30*msec, 2*msec), chunked(5 * msec), chunked(), whole, failed, gapless} {
		c.Add(r)
	}
	s := c.Summary(1)
	if d := &metrics.View[Stalls](s).Longest; d.Len() != 2 || math.Abs(d.Mean()-17.5) > 1e-9 || d.Percentile(100) != 30 {
		t.Errorf("%d requests, %v ms on average", d.Len(), d.Mean())
	}
	for i, want := range []float64{17.5, 17.5, 27.5, 29.75} {
		if n := Kind.Numbers()[i]; math.Abs(n.Of(s)-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", n.Key, n.Of(s), want)
		}
		if n := Kind.Numbers()[i]; !math.IsNaN(n.Of(metrics.Unknown())) {
			t.Errorf("%s of a run without records is %v", n.Key, n.Of(metrics.Unknown()))
		}
	}
}
