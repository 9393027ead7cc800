package loadgen

import (
	"sync/atomic"
	"time"

	"github.com/servebench/servebench/metrics"
)

// Live counts what a run is doing, for display. All methods and fields are safe
// for concurrent use. The zero value is ready.
type Live struct {
	Sent   atomic.Int64 // requests started
	Ended  atomic.Int64 // requests ended, failures included
	Warmed atomic.Int64 // of them, those of a warm-up
	Failed atomic.Int64 // of the others, those that failed
	Chunks atomic.Int64 // chunks with choices so far

	answered atomic.Int64 // requests with a first chunk
	ttft     atomic.Int64 // sum over those, in nanoseconds
}

// MeanTTFT is the mean time to first token over the requests that have one; 0
// before the first.
func (l *Live) MeanTTFT() time.Duration {
	n := l.answered.Load()
	if n == 0 {
		return 0
	}
	return time.Duration(l.ttft.Load() / n)
}

func (l *Live) first(ttft time.Duration) {
	l.ttft.Add(int64(ttft))
	l.answered.Add(1)
}

func (l *Live) end(rec *metrics.Record) {
	switch {
	case rec.Phase == metrics.WarmUp:
		l.Warmed.Add(1)
	case rec.Class != metrics.OK:
		l.Failed.Add(1)
	}
	l.Ended.Add(1)
}
