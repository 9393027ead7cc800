package engine

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// slower is a Sender that takes a second longer each time, and fails at the third.
func slower() Sender {
	n := 0
	return func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
		n++
		if n == 3 {
			return func(yield func(Chunk, error) bool) {
				yield(Chunk{}, &record.Failure{Class: record.Connect, Err: errors.New("refused")})
			}
		}
		return answer(time.Duration(n)*time.Second, 0, 1)(ctx, epoch, req, rec)
	}
}

func TestProbesFollowOneAnotherAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Prober{Target: Target{Send: slower()}, Request: &Request{}, Pause: 500 * time.Millisecond}
		done := make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(done) })
		start := time.Now()
		got := p.Probe(t.Context(), done)
		// From 0, 1.5, 4 (which fails at once), 4.5 and 9 s; the last takes 5 s.
		want := metrics.Probes{Completed: 4, Failed: 1, Median: 3000, P99: 4970, Max: 5000}
		if got == nil || *got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if took := time.Since(start); took != 14500*time.Millisecond {
			t.Errorf("it took %v, want 14.5s: the pause after the last answer is waited out", took)
		}
	})
}

func TestProbeThatIsCutDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Prober{Target: Target{Send: slower()}, Request: &Request{}, Pause: time.Second}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if got := p.Probe(ctx, nil); got == nil || got.Completed != 1 || got.Failed != 0 {
			t.Errorf("got %+v, want one completed", got)
		}
		if got := p.Probe(ctx, nil); got != nil {
			t.Errorf("got %+v of a context that has ended", got)
		}
	})
}

func TestPercentilesOfProbesAreNumpys(t *testing.T) {
	var took []time.Duration
	for i := range 1001 {
		took = append(took, time.Duration(1001-i)*time.Second)
	}
	if p := probes(took, 0); p.P99 != 991e3 || p.Max != 1001e3 || p.Median != 501e3 {
		t.Errorf("got %+v", p)
	}
	// Of few, P99 lies between the last two.
	if p := probes([]time.Duration{4 * time.Second, time.Second, 2 * time.Second}, 0); p.P99 != 3960 || p.Max != 4000 || p.Median != 2000 {
		t.Errorf("got %+v", p)
	}
}
