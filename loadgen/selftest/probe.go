package selftest

import (
	"errors"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

// errUntold means that the server is not a metronome.
var errUntold = errors.New("the server's events do not tell when they were written")

// A probe holds the times of one request, as measured and as its events report them. It belongs to
// the request's goroutine until the request has ended.
type probe struct {
	samples []sample // the first n are filled
	n       int

	ttft, trueTTFT time.Duration // 0 before the first event
	bound          time.Duration // bound of the error of each stamp, from the Record; 0 for none
	worst          time.Duration // largest error of a stamp, less the server's own delay
	err            error

	reads     int       // reads that events shared so far
	last      time.Time // the newest event's arrival
	written   int64     // when the newest event was written
	lastError time.Duration
}

// A sample is one event.
type sample struct {
	stamp   time.Duration // arrival less write
	shared  bool          // shared a read with another event
	gap     time.Duration // between this arrival and the previous one
	trueGap time.Duration // between the writes
}

// newProbes allocates room for all events of a load.
func newProbes(requests, tokens int) []probe {
	samples := make([]sample, requests*tokens)
	for i := range samples {
		samples[i].gap = 1 // touch the memory now, so that it does not count as the load's
	}
	probes := make([]probe, requests)
	for i := range probes {
		probes[i].samples = samples[i*tokens : (i+1)*tokens]
	}
	return probes
}

// look takes the next event of a request that was sent at sent. With this event, sharedReads events
// have shared their read with an earlier one. Events before settled count only for the TTFT.
func (p *probe) look(c *engine.Chunk, sharedReads int, sent, settled time.Time) {
	truth, err := metronome.ParseTruth(c.Text)
	if err != nil {
		p.err = errUntold
		return
	}
	s := sample{stamp: time.Duration(c.At.UnixNano() - truth.Written), shared: sharedReads > p.reads}
	if p.reads = sharedReads; s.shared && p.n > 0 {
		p.samples[p.n-1].shared = true // the kernel kept one stamp for both
	}
	if p.last.IsZero() {
		p.ttft, p.trueTTFT = c.At.Sub(sent), time.Duration(truth.Written-truth.Arrived)
	} else {
		s.gap, s.trueGap = c.At.Sub(p.last), time.Duration(truth.Written-p.written)
		// Only now do we know how long the previous event's write took.
		p.worst = max(p.worst, p.lastError-truth.Delay)
		if c.At.After(settled) && p.n < len(p.samples) {
			p.samples[p.n] = s
			p.n++
		}
	}
	p.last, p.written, p.lastError = c.At, truth.Written, s.stamp
}

// outOfBound reports whether a stamp had a larger error than its Record admits. It says nothing
// about the last event, since nothing reports how long that write took.
func (p *probe) outOfBound() bool { return p.bound > 0 && p.worst > p.bound }
