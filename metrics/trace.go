package metrics

import (
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// merge adds another trace, whose clock began that much later. The other must not be used
// afterwards.
func (t *Trace) merge(other *Trace, later time.Duration) {
	t.Records.Merge(&other.Records, later)
	for _, s := range other.Samples {
		s.At += later
	}
	t.Samples = append(t.Samples, other.Samples...)
}

// A Trace is all requests of a run in memory, and what the server reported meanwhile. Parts of a
// run are summed up from it.
type Trace struct {
	// Records are in the order in which they ended, one shard after the other. They include the
	// warm-up.
	Records record.Packed
	// Samples are in the order in which they were taken.
	Samples []*samples.Sample
}
