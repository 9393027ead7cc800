package loadgen

import (
	"time"

	"github.com/servebench/servebench/loadgen/witness"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// numbers collects what a target's load shows: its records and samples, in the order in which they come.
type numbers struct {
	header    *metrics.Header // of what this process sends
	observer  Observer
	recorder  recorder
	collector *metrics.Collector
	witness   witness.Witness
	warmUp    warmUp

	begun int           // conversations of the measured load
	last  time.Duration // when the last measured request ended, so far
}

// maxKept is how many bytes a run uses for each target to look at its parts and for the arrays of
// its result file: enough for half a million requests of 128 tokens.
const maxKept = 512 << 20

// newNumbers keeps what the plan wants kept.
func newNumbers(v voice, h *metrics.Header, log *intervals) numbers {
	p := v.plan
	c := aspect.Collector(h)
	c.Keep.Outcomes, c.Keep.Timings = p.Keep.Texts, p.Keep.Latencies
	c.Keep.Trace, c.Keep.Most = p.Keep.Requests || p.Target != "" || p.Watch.Any(), maxKept
	return numbers{header: h, observer: v.observer, recorder: newRecorder(&p.Keep, log), collector: c}
}

// collect adds a request. Its record is in the stream already.
func (n *numbers) collect(rec *record.Record) {
	rec = n.header.Counted(rec)
	if rec.Phase == record.WarmUp {
		n.warmUp.note(rec)
	} else {
		n.last = max(n.last, rec.Times.End)
		if rec.Turn == 0 {
			n.begun++
		}
	}
	n.witness.Send(rec)
	n.collector.Add(rec)
	n.observer.Record(rec)
	n.recorder.log.write(rec)
}

// sample writes a sample to the stream, and adds it by do.
func (n *numbers) sample(s *samples.Sample, do func(func())) {
	n.recorder.sample(s)
	do(func() { n.collector.AddSample(s) })
}
