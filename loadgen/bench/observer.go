package bench

import (
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// An Observer is told what is going on in a run. Its methods may be called by several
// goroutines at once, and the load waits for none of them but Step. Embed Quiet to have
// them all.
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
	Kind   StepKind
	Target string // empty for a single one

	Plan   *Plan          // what the target is put under
	Model  string         // its name: of FoundModel and NotAligned
	ID     string         // of the model in the API: of FoundModel
	Config metrics.Config // of Announced: what is sent here, a shard's part
	Count  int            // of WarmingUp: requests; of Aligning: tokens by the server; of RepeatDone: runs
	Want   int            // of Aligning: tokens that the dataset asks for
	Err    error          // of NotAligned
	Probes bool           // of Announced: probes are sent, too
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
	StartingProfiler                 // of the server
	StartedProfiler                  //
	Announced                        // what is sent, and when
	StoppingProfiler                 // of the server
	StoppedProfiler                  //
	RepeatDone                       // all load tests of a repeat are done
)

// A Loading is a load that has begun.
type Loading struct {
	Epoch time.Time     // when the clock started
	Began time.Duration // from when on measured requests are sent: a delay and a warm-up go before
	Until time.Duration // when the last is sent; 0 where Total says how many there are
	Total int           // requests
	Loads []LoadingTarget
}

// A LoadingTarget is a target's part of a Loading.
type LoadingTarget struct {
	Target string
	Run    string       // id in the target's Records
	Live   *engine.Live // kept up to date until the load is over
}

// A Draining is what was in flight when a run was stopped.
type Draining struct {
	InFlight int           // requests
	Limit    time.Duration // for which they may go on
	Aborted  bool          // by the Plan's own rule, not by the context
}

// A Result is what a target came to.
type Result struct {
	*metrics.Summary

	Plan     *Plan  // what it was put under, its seed that of the repeat
	Requests int    // that were to be sent here; -1 where only the server's answers bounded them
	TokenIDs bool   // prompts were sent as token ids
	Unlisted string // what the server lists in the place of the model, where every request failed by its status; empty where that is not known
}

// Quiet is an Observer that hears nothing.
type Quiet struct{}

func (Quiet) Step(Step)                     {}
func (Quiet) Remark(target, text string)    {}
func (Quiet) Loading(Loading) (over func()) { return func() {} }
func (Quiet) Draining(Draining)             {}
func (Quiet) Record(*metrics.Record)        {}
func (Quiet) Done(*Result)                  {}
