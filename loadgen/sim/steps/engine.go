// Package steps is the engine of a simulated server. It works in steps: a step takes some time, all its
// tokens appear at its end, and the next step is composed of what is running and what is waiting, as
// vLLM's scheduler does.
//
// An Engine is driven from outside, at any instants that do not go back: Compose, Took, Deliver. A Loop
// drives one in the time that passes, in a goroutine.
package steps

import (
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/sim/gpupower"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// Settings say what an engine is.
type Settings struct {
	Model       string // its name on the metrics page
	Profile     *speed.Profile
	GPU         *speed.GPU // shared with other servers; nil for a separate GPU
	Seed        uint64     // of the times of steps
	NumSeqs     int        // requests in the batch at most
	NumTokens   int        // tokens in a step at most
	ModelLen    int        // prompt and output tokens of a request at most
	Speculative Speculative
	KV          *kvcache.Cache

	Board   *gpupower.Board // the power of the GPU; nil for none
	Started time.Time       // of the server, for the metrics page

	// Trace, if not nil, is called when a request leaves the engine. It must not block.
	Trace func(Trace)
	// Over, if not nil, is called when a sequence leaves the engine.
	Over func(*Sequence)
}

// An Engine takes sequences through steps. All but what drives it is safe for concurrent use.
type Engine struct {
	scheduler scheduler
	inbox     *inbox
	watch     *speed.Stopwatch
	hold      int // hold back one token in so many; 0 for none
	stats     *stats
	board     *gpupower.Board // nil for none
	trace     func(Trace)
	over      func(*Sequence)
}

// New makes an engine without requests.
func New(s Settings) *Engine {
	st := newStats(&s)
	return &Engine{
		scheduler: scheduler{
			seqs: s.NumSeqs, budget: s.NumTokens, decode: 1 + s.Speculative.Tokens,
			prefillFirst: s.Profile.PrefillFirst, kv: s.KV,
		},
		inbox: newInbox(st),
		watch: speed.NewStopwatch(s.Profile, s.GPU, s.Seed),
		hold:  s.Profile.Hold,
		stats: st,
		board: s.Board,
		trace: s.Trace,
		over:  s.Over,
	}
}

// Submit passes a sequence to the engine at an instant; false means that the engine is closed.
func (e *Engine) Submit(seq *Sequence, at time.Time) bool {
	seq.at.arrived = at
	seq.unfilled = seq.Prompt
	return e.inbox.submit(seq)
}

// Cancel removes a sequence at the next step. It does nothing if the sequence has finished.
func (e *Engine) Cancel(seq *Sequence) {
	if !seq.outlet.finished() {
		e.inbox.cancel(seq)
	}
}

// Metrics is the metrics page: what the engine did, and what its cache holds.
func (e *Engine) Metrics() string { return e.stats.text(e.scheduler.kv) }

// Forget makes the cache forget every prefix.
func (e *Engine) Forget() { e.scheduler.kv.Forget() }

// Preemptions is how often a request lost its blocks to another.
func (e *Engine) Preemptions() int {
	e.stats.mu.Lock()
	defer e.stats.mu.Unlock()
	return e.stats.preemptions
}

// Work tells the GPU that the engine has requests, until Rest.
func (e *Engine) Work() {
	e.watch.Work()
	e.board.Work()
}

// Rest tells the GPU that the engine has no requests.
func (e *Engine) Rest() {
	e.watch.Rest()
	e.board.Rest()
}

// Idle reports whether the engine has no requests.
func (e *Engine) Idle() bool { return e.scheduler.empty() && e.inbox.idle() }

// Took is the time of a step that starts at an instant.
func (e *Engine) Took(b speed.Batch, start time.Time) time.Duration {
	return e.watch.Step(b, start) + e.scheduler.kv.Mapped()
}

// Compose handles what came and went before now and composes the step. It leaves what happens at
// this very instant to the next step, because not all of it may have happened yet.
func (e *Engine) Compose(now time.Time) speed.Batch {
	came, gone := e.inbox.take(now)
	e.scheduler.waiting = append(e.scheduler.waiting, came...)
	if len(gone) > 0 {
		waited := e.scheduler.drop(gone)
		e.stats.left(len(gone)-waited, waited)
		e.abort(gone, now)
	}
	b, admitted := e.scheduler.compose()
	for _, seq := range admitted {
		if seq.at.admitted.IsZero() {
			seq.at.admitted = now
		}
		e.stats.admitted()
	}
	e.stats.preempted(e.scheduler.preempted)
	return b
}

// Deliver ends the step: all its tokens appear now.
func (e *Engine) Deliver(now time.Time) {
	e.scheduler.running = slices.DeleteFunc(e.scheduler.running, func(seq *Sequence) bool {
		n := e.produce(seq)
		if n == 0 {
			return false
		}
		e.stats.produced(seq, n, now)
		if seq.out == n {
			seq.at.first = now
		}
		seq.at.last = now
		if e.trace != nil {
			for range n {
				seq.tokens = append(seq.tokens, now)
			}
		}
		seq.held += n
		if seq.out < seq.Want {
			if !e.holds(seq) {
				seq.outlet.push(seq.held, now, "")
				seq.held = 0
			}
			return false
		}
		e.scheduler.kv.Free(&seq.kv)
		e.stats.finished(seq)
		e.report(seq, now, seq.Finish)
		seq.outlet.push(seq.held, now, seq.Finish)
		return true
	})
}

// holds reports whether a sequence's last token is held back. Neighbours hold back at other tokens,
// so not all do so in one step.
func (e *Engine) holds(seq *Sequence) bool {
	const apart = 29
	return e.hold > 0 && (int64(seq.out)+apart*seq.Number)%int64(e.hold) == 0
}

// produce advances a sequence by its part of the step and returns how many tokens that made.
func (e *Engine) produce(seq *Sequence) int {
	n := 0
	switch {
	case seq.decoding && seq.Chance != nil:
		n = 1 + e.stats.draft(seq.Chance)
	case seq.decoding:
		n = 1
	case seq.chunk > 0:
		if seq.unfilled -= seq.chunk; seq.unfilled == 0 {
			n = 1
		}
	}
	n = min(n, seq.Want-seq.out)
	seq.out += n
	e.scheduler.kv.Keep(&seq.kv, seq.computed())
	return n
}

func (e *Engine) report(seq *Sequence, now time.Time, reason string) {
	if e.trace != nil {
		e.trace(seq.trace(now, reason))
	}
	if e.over != nil {
		e.over(seq)
	}
}

func (e *Engine) abort(seqs []*Sequence, now time.Time) {
	for _, seq := range seqs {
		e.report(seq, now, Abort)
		seq.outlet.push(0, now, Abort)
	}
}
