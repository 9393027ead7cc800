package loading

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// loaded is a completed request whose server loaded its model for so long.
func loaded(ms float64, e2el time.Duration) *record.Record {
	r := &record.Record{Server: &record.ServerTimes{LoadMS: &ms}}
	r.Answer.Chunks.Append(e2el)
	r.Times.Last, r.Times.End = e2el, e2el
	return r
}

func TestOnlyALongLoadIsAWait(t *testing.T) {
	silent, failed, long := &record.Record{}, loaded(9000, time.Second), loaded(1400, 29*time.Second)
	failed.Result.Class = record.Reset
	one, other := metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind)
	for _, r := range []*record.Record{loaded(999, time.Millisecond), loaded(1000, 2*time.Second), silent, failed, long} {
		one.Add(r)
	}
	other.Add(loaded(6000, 7*time.Second))
	one.Merge(other, 0)
	s := one.Summary(1)
	if l := metrics.View[waits](s); l.Times.Len() != 4 || l.Waited != 2 || l.Longest != 6*time.Second {
		t.Errorf("%d times, %d waited, %v at most", l.Times.Len(), l.Waited, l.Longest)
	}
	if note := Note(metrics.NewCollector(&metrics.Header{}, Kind).Summary(1)); note != "" {
		t.Errorf("a run without requests says: %s", note)
	}
}
