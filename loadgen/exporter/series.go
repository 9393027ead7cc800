package exporter

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// A Series has the data of one target. Only one goroutine at a time may call its methods; scrapes
// do not disturb them. A nil *Series takes everything and shows nothing.
type Series struct {
	arm, target string

	completed, warmed, prompt, generated prometheus.Counter
	failed                               map[record.Class]prometheus.Counter
	latencies                            map[string]prometheus.Observer

	mu   sync.Mutex
	past engine.Count // of runs that have ended
	live *engine.Live // of the current run; nil before the first
}

// Begin starts a run, whose load live counts. The previous run has ended.
func (s *Series) Begin(live *engine.Live) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past, s.live = s.count(), live
}

// Take adds a request that has ended. It does not keep rec.
func (s *Series) Take(rec *record.Record) {
	switch {
	case s == nil:
		return
	case rec.Phase == record.WarmUp:
		s.warmed.Inc()
	case rec.Result.Class == record.OK:
		s.completed.Inc()
		s.prompt.Add(float64(rec.Tokens.In))
		s.generated.Add(float64(rec.Tokens.Out))
	default:
		s.failed[rec.Result.Class].Inc()
	}
	for name, v := range rec.Latencies() {
		if latency := s.latencies[name]; latency != nil {
			latency.Observe(v.Seconds())
		}
	}
}

// now is the count of all runs so far.
func (s *Series) now() engine.Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count()
}

// count needs mu.
func (s *Series) count() engine.Count {
	if s.live == nil {
		return s.past
	}
	return s.past.Plus(s.live.Now())
}
