// Package since is how long answers took since other moments than vLLM's, which is when the request was sent: since
// it was due, since it was written, and without our own delay.
package since

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Latencies are of completed requests, and a TTFT is of answers that were streamed. WrittenTTFT is without
// connecting.
type Latencies struct {
	WrittenTTFT   metrics.Distribution // from the request written to the first chunk
	UndelayedTTFT metrics.Distribution // TTFT less our own delay until the request was written
	ScheduledTTFT metrics.Distribution // from Due to the first chunk: includes queue and lag
	ScheduledE2EL metrics.Distribution // from Due to the last chunk
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{Name: "since", New: func(*metrics.Header) metrics.Aspect {
	each := metrics.PerRequest()
	return &Latencies{each, each, each, each}
}}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Latencies { return metrics.View[Latencies](s) }

// Add adds a request.
func (l *Latencies) Add(r *record.Record) {
	if !r.Answered() {
		return
	}
	put := func(d *metrics.Distribution, latency time.Duration) { d.Add(latency.Seconds()) }
	first := r.Answer.Chunks.First()
	if r.Times.Wrote > 0 && !r.Answer.Unstreamed {
		put(&l.WrittenTTFT, first-r.Times.Wrote)
		put(&l.UndelayedTTFT, max(0, first-r.Times.Sent-r.SendDelay()))
	}
	if !r.Answer.Unstreamed {
		put(&l.ScheduledTTFT, first-r.Times.Due)
	}
	put(&l.ScheduledE2EL, r.Times.Sent+r.E2EL()-r.Times.Due)
}

// Merge adds another shard's requests.
func (l *Latencies) Merge(o metrics.Aspect) {
	others := o.(*Latencies).Distributions()
	for i, d := range l.Distributions() {
		d.Merge(others[i])
	}
}

// Distributions are settled and condensed with the Summary's.
func (l *Latencies) Distributions() []*metrics.Distribution {
	return []*metrics.Distribution{&l.WrittenTTFT, &l.UndelayedTTFT, &l.ScheduledTTFT, &l.ScheduledE2EL}
}
