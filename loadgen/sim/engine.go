package sim

import (
	"context"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/sim/elastic"
	"github.com/servebench/servebench/loadgen/sim/gpupower"
	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/sleep"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// An engine is the goroutine that runs the steps.
type engine struct {
	scheduler scheduler
	inbox     *inbox
	watch     *speed.Stopwatch
	hold      int // hold back one token in so many; 0 for none
	stats     *stats
	board     *gpupower.Board // nil for none
	nap       *sleep.Mode
	trace     func(Trace)
	over      func(*sequence) // called in a dry run when a sequence has left the engine
	timer     *time.Timer
	quit      chan struct{} // closed to stop it
	done      chan struct{} // closed when it has stopped
}

func startEngine(cfg *Config, st *stats, pool *elastic.Pool) *engine {
	e := newEngine(cfg, st)
	e.scheduler.kv.Pool = pool
	e.timer = time.NewTimer(0)
	go e.run()
	return e
}

// newEngine makes an engine that does not run.
func newEngine(cfg *Config, st *stats) *engine {
	return &engine{
		scheduler: scheduler{
			seqs: cfg.Limits.NumSeqs, budget: cfg.Limits.NumBatchedTokens, decode: 1 + cfg.Speculative.Tokens,
			prefillFirst: cfg.Profile.PrefillFirst, kv: kvcache.New(cfg.Cache.Blocks, cfg.Cache.Prefixes),
		},
		inbox: newInbox(st),
		watch: speed.NewStopwatch(cfg.Profile, cfg.Device.GPU, cfg.Seed),
		hold:  cfg.Profile.Hold,
		stats: st,
		board: cfg.Device.Board,
		nap:   sleep.New(cfg.SleepMode.Times),
		trace: cfg.Trace,
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
}

// submit passes a sequence to the engine at an instant; false means that the engine is closed.
func (e *engine) submit(seq *sequence, at time.Time) bool {
	seq.at.arrived = at
	seq.unfilled = seq.prompt
	return e.inbox.submit(seq)
}

// cancel removes a sequence at the next step. It does nothing if the sequence has finished.
func (e *engine) cancel(seq *sequence) {
	if !seq.outlet.finished() {
		e.inbox.cancel(seq)
	}
}

func (e *engine) close() {
	first := e.inbox.close()
	if first {
		close(e.quit)
	}
	<-e.done
	if first && e.scheduler.kv.Pool != nil {
		e.scheduler.kv.Pool.Close() // what is wrong with its file has no reader any more
	}
}

// wait lets a handler wait until an instant; false means that the context or the engine ended before it.
func (e *engine) wait(ctx context.Context, until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return true
	}
	ready := time.NewTimer(left)
	defer ready.Stop()
	select {
	case <-ready.C:
		return true
	case <-ctx.Done():
	case <-e.quit:
	}
	return false
}

// run steps until it is stopped. A step starts when the previous one was due to end, so late timers
// do not add up. Only if the machine falls behind by a whole step is the lost time dropped.
func (e *engine) run() {
	defer close(e.done)
	defer e.abandon()
	e.work()
	defer e.pause()
	start := time.Now()
	for {
		if e.idle() {
			if !e.rest() {
				return
			}
			start = time.Now()
		}
		if !e.rise(&start) || !e.sleep(start.Add(speed.Gather)) {
			return
		}
		b := e.prepare(time.Now())
		if b == (speed.Batch{}) {
			if !e.scheduler.empty() && !e.sleep(time.Now().Add(starved)) {
				return
			}
			start = time.Now()
			continue
		}
		took := e.watch.Step(b, start) + e.scheduler.kv.Mapped()
		if !e.sleep(start.Add(took)) {
			return
		}
		now := time.Now()
		e.deliver(now)
		if start = start.Add(took); now.Sub(start) > took {
			start = now
		}
	}
}

// starved is how long an engine waits that has requests, and no memory for any of them because other
// servers have it.
const starved = time.Millisecond

// rise waits while the server sleeps. The next step then starts when it has woken up. False means that
// the engine must stop.
func (e *engine) rise(start *time.Time) bool {
	gate := e.nap.Gate()
	select {
	case <-gate:
		return true
	default:
	}
	select {
	case <-gate:
		*start = time.Now()
		return true
	case <-e.quit:
		return false
	}
}

// rest waits until something arrives; false means that the engine must stop.
func (e *engine) rest() bool {
	e.pause()
	defer e.work()
	select {
	case <-e.inbox.wake:
		return true
	case <-e.quit:
		return false
	}
}

// work tells the GPU that the engine has requests, until pause.
func (e *engine) work() {
	e.watch.Work()
	e.board.Work()
}

func (e *engine) pause() {
	e.watch.Rest()
	e.board.Rest()
}

func (e *engine) idle() bool { return e.scheduler.empty() && e.inbox.idle() }

// sleep waits until an instant; false means that the engine must stop.
func (e *engine) sleep(until time.Time) bool {
	e.timer.Reset(time.Until(until))
	select {
	case <-e.timer.C:
		return true
	case <-e.quit:
		return false
	}
}

// prepare handles what came and went before now and composes the step. It leaves what happens at
// this very instant to the next step, because not all of it may have happened yet.
func (e *engine) prepare(now time.Time) speed.Batch {
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

// deliver ends the step: all its tokens appear now.
func (e *engine) deliver(now time.Time) {
	e.scheduler.running = slices.DeleteFunc(e.scheduler.running, func(seq *sequence) bool {
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
		if seq.out < seq.want {
			if !e.holds(seq) {
				seq.outlet.push(seq.held, now, "")
				seq.held = 0
			}
			return false
		}
		e.scheduler.kv.Free(&seq.kv)
		e.stats.finished(seq)
		e.report(seq, now, seq.finish)
		seq.outlet.push(seq.held, now, seq.finish)
		return true
	})
}

// holds reports whether a sequence's last token is held back. Neighbours hold back at other tokens,
// so not all do so in one step.
func (e *engine) holds(seq *sequence) bool {
	const apart = 29
	return e.hold > 0 && (int64(seq.out)+apart*seq.number)%int64(e.hold) == 0
}

// produce advances a sequence by its part of the step and returns how many tokens that made.
func (e *engine) produce(seq *sequence) int {
	n := 0
	switch {
	case seq.decoding && seq.drafts != nil:
		n = 1 + e.stats.draft(seq.drafts)
	case seq.decoding:
		n = 1
	case seq.chunk > 0:
		if seq.unfilled -= seq.chunk; seq.unfilled == 0 {
			n = 1
		}
	}
	n = min(n, seq.want-seq.out)
	seq.out += n
	e.scheduler.kv.Keep(&seq.kv, seq.computed())
	return n
}

func (e *engine) report(seq *sequence, now time.Time, reason string) {
	if e.trace != nil {
		e.trace(seq.trace(now, reason))
	}
	if e.over != nil {
		e.over(seq)
	}
}

func (e *engine) abort(seqs []*sequence, now time.Time) {
	for _, seq := range seqs {
		e.report(seq, now, finishAbort)
		seq.outlet.push(0, now, finishAbort)
	}
}

// abandon aborts everything when the engine stops.
func (e *engine) abandon() {
	s := &e.scheduler
	left := slices.Concat(s.running, s.waiting, e.inbox.drain())
	e.stats.left(len(s.running), len(left)-len(s.running))
	s.running, s.waiting = nil, nil
	e.abort(left, time.Now())
}
