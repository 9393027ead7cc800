package metrics

import (
	"time"
)

// trustArrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func trustArrived(r Record, chunks ...float64) *Record {
	for _, at := range chunks {
		r.Chunks.Append(time.Duration(at * float64(trustMsec)))
	}
	r.Last = max(r.Last, r.Chunks.Last())
	r.End = max(r.End, r.Last)
	if r.FirstContent == 0 {
		r.FirstContent = r.Chunks.First()
	}
	return &r
}

func trustDurationMS(v float64) time.Duration { return time.Duration(v * float64(trustMsec)) }

const trustMsec = time.Millisecond
