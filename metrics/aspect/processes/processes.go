// Package processes is whether a run measured one process of the server from its beginning to its end, by the
// server's own counters.
package processes

import (
	"cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// Processes are those that the samples of a run come from.
type Processes struct {
	// Mixed is why the samples of the server's /metrics are not of one process; empty if they may
	// be.
	Mixed string

	sampled samples.Processes
}

// Kind is the aspect as the list has it. A part of a run has no samples.
var Kind = &metrics.Kind{
	Name: "processes", New: func(*metrics.Header) metrics.Aspect { return new(Processes) }, Whole: true,
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Processes { return metrics.View[Processes](s) }

// Why says why the server's /metrics are not of one process under only this load; "" if they
// may be.
func Why(s *metrics.Summary) string {
	if s.Evidence != nil && s.Evidence.Server.Mixed != "" {
		return s.Evidence.Server.Mixed
	}
	return Of(s).Mixed
}

// Start is the start of the server that the whole run measured; nil if it is unknown, and if there
// were several.
func Start(s *metrics.Summary) *metrics.ServerStart {
	if Of(s).Mixed != "" || s.Evidence != nil && s.Evidence.Server.Restarted != "" {
		return nil
	}
	return s.Header.Server
}

// Add takes nothing from a request.
func (p *Processes) Add(*record.Record) {}

// AddSample adds a sample. Samples of one URL must come in order.
func (p *Processes) AddSample(s *samples.Sample) { p.Mixed = cmp.Or(p.Mixed, p.sampled.Add(s)) }

// Merge adds another shard's samples.
func (p *Processes) Merge(o metrics.Aspect) { p.Mixed = cmp.Or(p.Mixed, o.(*Processes).Mixed) }
