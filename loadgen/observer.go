package loadgen

import (
	"sync"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// An Observer is told what is going on in a run. Its methods may be called by several
// goroutines at once, and not after Run has returned. The load begins once Loading has
// returned, so that has to be quick; Record may lag by some thousands of requests before
// the load waits for it. Embed Quiet to have them all.
type Observer interface {
	// Step is told what a target comes to before and after its load.
	Step(Step)

	// Remark is told a line that is good to know, and a warning that begins with
	// "WARNING: ". Target is empty for a single one, and for all of them together.
	Remark(target, text string)

	// Loading is told that the load has begun. It gives what is called when the load is
	// over.
	Loading(Loading) (over func())

	// Draining is told that nothing more is sent, and what is left.
	Draining(Draining)

	// Record is told of each request once it has ended, in order. It owns none of it.
	Record(*metrics.Record)

	// Done is told what a target came to.
	Done(*Result)
}

// A Step is what a target comes to before and after its load.
type Step struct {
	Kind StepKind

	// Target is empty for a single one.
	Target string

	// Plan is what the target is put under.
	Plan *Plan

	// Model is its name, of FoundModel and NotAligned; ID is its name in the API, of
	// FoundModel.
	Model, ID string

	// Config is of Announced: what is sent here, a shard's part.
	Config metrics.Config

	// Probes says of Announced that probes are sent, too.
	Probes bool

	// Count is how many requests there are of WarmingUp, tokens by the server of Aligning,
	// and Summaries of RepeatDone.
	Count int

	// Want is how many tokens the dataset asks for, of Aligning.
	Want int

	// Err is why NotAligned.
	Err error
}

// A StepKind says which Step it is.
type StepKind int

// The steps of a target, in their order. A run skips those that it was not asked for.
const (
	FindingModel     StepKind = iota // the server is asked for its models
	FoundModel                       // the first of them is taken
	NotAligned                       // the server's /tokenize is of no use
	Aligning                         // prompts are cut to the length by the server's tokenizer
	Prepared                         // all that is sent is known
	Rehearsing                       // the first request is made, and sent where there is a ready check
	Ready                            // it was answered
	WarmingUp                        // requests are sent before the clock starts
	WarmedUp                         // they have ended
	Starting                         // the load is about to begin
	StartingProfiler                 // the server is asked to profile the load
	StartedProfiler                  // it does
	Announced                        // what is sent, and when
	StoppingProfiler                 // the server is asked to write its profile
	StoppedProfiler                  // it has
	RepeatDone                       // all load tests of a repeat are done
)

// A Loading is a load that has begun.
type Loading struct {
	// Epoch is when the clock started.
	Epoch time.Time

	// Began is from when on measured requests are sent: a delay and a warm-up go before.
	Began time.Duration

	// Total is how many requests there are.
	Total int

	// Until is when the last is sent, where Total does not say; 0 where it does.
	Until time.Duration

	// Loads are those of the targets.
	Loads []LoadingTarget
}

// A LoadingTarget is a target's part of a Loading.
type LoadingTarget struct {
	Target string

	// Run is the id in the target's Records.
	Run string

	// Live is kept up to date until the load is over.
	Live *engine.Live
}

// A Draining is what was in flight when a run was stopped.
type Draining struct {
	// InFlight is how many requests.
	InFlight int

	// Limit is for how long they may go on.
	Limit time.Duration

	// Aborted says that the Plan's own rule stopped the run, and not its context.
	Aborted bool
}

// A Result is what a target came to.
type Result struct {
	*metrics.Summary

	// Plan is what the target was put under, with the seed of the repeat.
	Plan *Plan

	// Requests is how many were to be sent here; -1 where only the server's answers
	// bounded them.
	Requests int

	// TokenIDs says that prompts were sent as token ids.
	TokenIDs bool

	// Unlisted is what the server lists in the place of the model, where every request
	// failed by its status; empty where that is not known.
	Unlisted string
}

// Quiet is an Observer that hears nothing.
type Quiet struct{}

func (Quiet) Step(Step)                     {}
func (Quiet) Remark(target, text string)    {}
func (Quiet) Loading(Loading) (over func()) { return func() {} }
func (Quiet) Draining(Draining)             {}
func (Quiet) Record(*metrics.Record)        {}
func (Quiet) Done(*Result)                  {}

// A gate lets what is said through to an Observer until it is shut.
type gate struct {
	Observer
	mu   sync.RWMutex
	over bool
}

func (g *gate) Step(s Step) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if !g.over {
		g.Observer.Step(s)
	}
}

func (g *gate) Remark(target, text string) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if !g.over {
		g.Observer.Remark(target, text)
	}
}

// shut waits for what is being said, and lets nothing more through.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}
