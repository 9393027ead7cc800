package metrics

import (
	"fmt"
	"time"
	"unsafe"

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

// size is the bytes that a kept o takes.
func (o *Outcome) size() int {
	return int(unsafe.Sizeof(*o)) + 8*len(o.ITL) + len(o.Error) + len(o.Text)
}

// size is the bytes that a kept l takes.
func (l *Timing) size() int { return int(unsafe.Sizeof(*l)) }

// room reports whether that many more bytes of requests and samples can be kept. If not, everything
// kept so far is dropped: a part of the requests would say nothing true about the run.
func (c *Collector) room(bytes int) bool {
	if c.traceDropped {
		return false
	}
	if c.kept += bytes; c.MaxKept > 0 && c.kept > c.MaxKept {
		c.traceDropped, c.trace, c.sum.Kept.Outcomes, c.sum.Kept.Timings = true, Trace{}, nil, nil
	}
	return !c.traceDropped
}

// shedding is the warning about what was dropped.
func (c *Collector) shedding() []string {
	if !c.traceDropped {
		return nil
	}
	return []string{fmt.Sprintf("per-request data exceeded %d MiB and was dropped: the run has no windows, slices, "+
		"charts, combined table of targets "+
		"or detailed result file; record with -o and use servebench report", c.MaxKept>>20)}
}
