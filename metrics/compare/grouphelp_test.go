package compare

import (
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
)

// arrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func arrived(r metrics.Record, chunks ...float64) *metrics.Record {
	for _, at := range chunks {
		r.Chunks.Append(time.Duration(at * float64(msec)))
	}
	r.Last = max(r.Last, r.Chunks.Last())
	r.End = max(r.End, r.Last)
	if r.FirstContent == 0 {
		r.FirstContent = r.Chunks.First()
	}
	return &r
}

// sentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func sentAt(sent float64, chunks ...float64) *metrics.Record {
	at := time.Duration(sent * float64(msec))
	return arrived(metrics.Record{Due: at, Slot: at, Sent: at, In: 10, Out: len(chunks)}, chunks...)
}

// refused is a request from when it is sent to when it fails, in milliseconds.
func refused(sent, end float64) *metrics.Record {
	at := func(ms float64) time.Duration { return time.Duration(ms * float64(msec)) }
	return &metrics.Record{Due: at(sent), Slot: at(sent), Sent: at(sent), End: at(end), Class: metrics.Status, Error: "no"}
}

func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

const msec = time.Millisecond

func durationMS(v float64) time.Duration { return time.Duration(v * float64(msec)) }

var epoch = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// recordsOf are the records of the Trace, without the warm-up.
func recordsOf(s *metrics.Summary) (all []metrics.Record) {
	for r := range s.Measured() {
		all = append(all, *r)
	}
	return all
}
