package targets

import (
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// arrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func arrived(r record.Record, chunks ...float64) *record.Record {
	for _, at := range chunks {
		r.Answer.Chunks.Append(time.Duration(at * float64(msec)))
	}
	r.Times.Last = max(r.Times.Last, r.Answer.Chunks.Last())
	r.Times.End = max(r.Times.End, r.Times.Last)
	if r.Times.FirstContent == 0 {
		r.Times.FirstContent = r.Answer.Chunks.First()
	}
	return &r
}

// sentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func sentAt(sent float64, chunks ...float64) *record.Record {
	at := time.Duration(sent * float64(msec))
	return arrived(record.Record{Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{In: 10, Out: len(chunks)}}, chunks...)
}

// refused is a request from when it is sent to when it fails, in milliseconds.
func refused(sent, end float64) *record.Record {
	at := func(ms float64) time.Duration { return time.Duration(ms * float64(msec)) }
	return &record.Record{Times: record.Times{Due: at(sent), Slot: at(sent), Sent: at(sent), End: at(end)}, Result: record.Result{Class: record.Status, Error: "no"}}
}

func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

const msec = time.Millisecond

func durationMS(v float64) time.Duration { return time.Duration(v * float64(msec)) }

var epoch = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// recordsOf are the records of the Trace, without the warm-up.
func recordsOf(s *metrics.Summary) (all []record.Record) {
	for r := range s.Measured() {
		all = append(all, *r)
	}
	return all
}
