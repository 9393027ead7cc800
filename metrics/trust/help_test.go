package trust

import (
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

func durationMS(v float64) time.Duration { return time.Duration(v * float64(msec)) }

const msec = time.Millisecond
