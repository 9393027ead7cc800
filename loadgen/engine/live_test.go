package engine

import (
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestFailuresOfAWarmUpAreNoFailuresOfTheRun(t *testing.T) {
	var l Live
	for _, rec := range []metrics.Record{{}, {Class: metrics.Status}, {Phase: metrics.WarmUp}, {Phase: metrics.WarmUp, Class: metrics.Status}} {
		l.end(&rec)
	}
	if l.Ended.Load() != 4 || l.Warmed.Load() != 2 || l.Failed.Load() != 1 {
		t.Errorf("%d ended, %d of the warm-up, %d failed", l.Ended.Load(), l.Warmed.Load(), l.Failed.Load())
	}
}
