package metrics

import (
	"math"
	"time"
)

// groupArrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func groupArrived(r Record, chunks ...float64) *Record {
	for _, at := range chunks {
		r.Chunks.Append(time.Duration(at * float64(groupMsec)))
	}
	r.Last = max(r.Last, r.Chunks.Last())
	r.End = max(r.End, r.Last)
	if r.FirstContent == 0 {
		r.FirstContent = r.Chunks.First()
	}
	return &r
}

// groupSentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func groupSentAt(sent float64, chunks ...float64) *Record {
	at := time.Duration(sent * float64(groupMsec))
	return groupArrived(Record{Due: at, Slot: at, Sent: at, In: 10, Out: len(chunks)}, chunks...)
}

// groupRefused is a request from when it is sent to when it fails, in milliseconds.
func groupRefused(sent, end float64) *Record {
	at := func(ms float64) time.Duration { return time.Duration(ms * float64(groupMsec)) }
	return &Record{Due: at(sent), Slot: at(sent), Sent: at(sent), End: at(end), Class: Status, Error: "no"}
}

func groupNear(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

const groupMsec = time.Millisecond

func groupDurationMS(v float64) time.Duration { return time.Duration(v * float64(groupMsec)) }

var groupEpoch = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
