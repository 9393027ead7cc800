package engine

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

func TestFailuresOfAWarmUpAreNoFailuresOfTheRun(t *testing.T) {
	var l Live
	for _, rec := range []record.Record{{}, {Result: record.Result{Class: record.Status}}, {Phase: record.WarmUp}, {Phase: record.WarmUp, Result: record.Result{Class: record.Status}}} {
		l.end(&rec)
	}
	if l.Ended.Load() != 4 || l.Warmed.Load() != 2 || l.Failed.Load() != 1 {
		t.Errorf("%d ended, %d of the warm-up, %d failed", l.Ended.Load(), l.Warmed.Load(), l.Failed.Load())
	}
}

// A request whose answer comes whole waits for its first token until it ends, and no longer.
func TestWholeAnswersThatEndedDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		send := func(_ context.Context, epoch time.Time, _ *Request, rec *record.Record) iter.Seq2[Chunk, error] {
			return func(func(Chunk, error) bool) {
				time.Sleep(time.Second)
				rec.Answer.Unstreamed, rec.Times.Last = true, time.Since(epoch)
			}
		}
		var live Live
		collect(t, oneLoad(Load{Source: prompts(4), Target: Target{Send: send}, Live: &live}))
		if c := live.Now(); c.Waiting() != 0 || c.Ended != 4 || c.Chunks != 4 || c.MeanTTFT() != 0 {
			t.Errorf("%d requests wait, %d ended, %d chunks, TTFT %v", c.Waiting(), c.Ended, c.Chunks, c.MeanTTFT())
		}
	})
}
