package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/tally"
)

// Keep says which single requests of a run a Collector keeps, and keeps them.
type Keep struct {
	Outcomes bool // with texts, for a detailed result file
	Timings  bool // for any result file
	Trace    bool
	Most     int // bytes for all of them together; beyond it all are dropped; 0: no limit

	outcomes []Outcome
	timings  []Timing
	trace    Trace
	bytes    int // that they took
	dropped  bool
}

// record adds a record to the Trace.
func (k *Keep) record(r *record.Record) {
	if !k.Trace || k.dropped {
		return
	}
	if packed := k.trace.Records.Pack(r); k.room(len(packed)) {
		k.trace.Records.Add(packed)
	}
}

// sample adds a sample to the Trace.
func (k *Keep) sample(s *samples.Sample) {
	if k.Trace && k.room(s.Size()) {
		k.trace.Samples = append(k.trace.Samples, s)
	}
}

// outcome adds a request as Outcome and as Timing.
func (k *Keep) outcome(o Outcome) {
	if k.Outcomes && k.room(o.size()) {
		kept := o
		kept.ITL = slices.Clone(o.ITL)
		k.outcomes = append(k.outcomes, kept)
	}
	if l := (Timing{o.Index, o.Latency, o.Queue}); k.Timings && k.room(l.size()) {
		k.timings = append(k.timings, l)
	}
}

// merge adds what another kept, whose clock began that much later. The other must not be used afterwards.
func (k *Keep) merge(other *Keep, later time.Duration) {
	for _, o := range other.outcomes {
		o.Start = tally.Moved(o.Start, later)
		k.outcomes = append(k.outcomes, o)
	}
	k.timings = append(k.timings, other.timings...)
	k.trace.merge(&other.trace, later)
}

// room reports whether that many more bytes of requests and samples can be kept. If not, everything
// kept so far is dropped: a part of the requests would say nothing true about the run.
func (k *Keep) room(bytes int) bool {
	if k.dropped {
		return false
	}
	if k.bytes += bytes; k.Most > 0 && k.bytes > k.Most {
		k.dropped, k.trace, k.outcomes, k.timings = true, Trace{}, nil, nil
	}
	return !k.dropped
}

// kept are the requests for a Summary, in order.
func (k *Keep) kept() (all Kept) {
	if k.Trace && !k.dropped {
		// Samples of several sources come one source after the other.
		slices.SortStableFunc(k.trace.Samples, func(a, b *samples.Sample) int { return cmp.Compare(a.At, b.At) })
		all.Trace = new(k.trace) // a pointer into k would keep all of the Collector
	}
	all.Outcomes = slices.Clone(k.outcomes)
	slices.SortStableFunc(all.Outcomes, func(a, b Outcome) int { return a.Index - b.Index })
	all.Timings = slices.Clone(k.timings)
	slices.SortStableFunc(all.Timings, func(a, b Timing) int { return a.Index - b.Index })
	return all
}

// shedding is the warning about what was dropped.
func (k *Keep) shedding() []string {
	if !k.dropped {
		return nil
	}
	return []string{fmt.Sprintf("per-request data exceeded %d MiB and was dropped: the run has no windows, slices, "+
		"charts, combined table of targets "+
		"or detailed result file; record with -o and use servebench report", k.Most>>20)}
}

// size is the bytes that a kept o takes.
func (o *Outcome) size() int {
	return int(unsafe.Sizeof(*o)) + 8*len(o.ITL) + len(o.Error) + len(o.Text)
}

// size is the bytes that a kept l takes.
func (l *Timing) size() int { return int(unsafe.Sizeof(*l)) }
