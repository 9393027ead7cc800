package loadgen

import (
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// An Observer hears about the progress of a run. Several goroutines may call its methods at once,
// but none does after Run has returned. The load waits for Loading to return, so Loading must be
// quick. Record may lag by some thousands of requests before the load waits for it. Embed Quiet to
// implement only some methods.
type Observer interface {
	// Event reports what a target does before and after its load.
	Event(Event)

	// Remark reports a useful line; a warning begins with "WARNING: ". Target is empty if the run
	// has one target, or if the line is about all of them.
	Remark(target, text string)

	// Loading reports that the load has begun. It returns a function to call when the load is over.
	Loading(Loading) (over func())

	// Draining reports that nothing more will be sent, and what is still in flight.
	Draining(Draining)

	// Record reports each request after it has ended, in order. The Record is only valid during the
	// call.
	Record(*record.Record)

	// Done reports the result of a target.
	Done(*Result)
}

// An Event is something that a target does before or after its load.
type Event struct {
	Kind EventKind

	// Target is empty if the run has one target.
	Target string

	// Plan is the target's plan.
	Plan *Plan

	// Model is the model's name, for FoundModel and NotAligned. ID is its name in the API, for
	// FoundModel.
	Model, ID string

	// Config is what this shard sends, for Announced.
	Config metrics.Config

	// Probes says, for Announced, that probes are sent as well.
	Probes bool

	// Count is the number of requests for WarmingUp, of the server's tokens for Aligning, and of
	// Summaries for RepeatDone.
	Count int

	// Want is the number of tokens that the dataset asks for, for Aligning.
	Want int

	// Err is the reason, for NotAligned.
	Err error
}

// An EventKind says which Event it is.
type EventKind int

// The steps of a target, in their order. A run skips those that the plan does not ask for.
const (
	FindingModel     EventKind = iota // asks the server for its models
	FoundModel                        // took the first of them
	NotAligned                        // cannot use the server's /tokenize
	Aligning                          // cuts prompts to length with the server's tokenizer
	Prepared                          // knows everything that it will send
	Rehearsing                        // makes the first request, and sends it if there is a ready check
	Ready                             // the server answered it
	WarmingUp                         // sends requests before the clock starts
	WarmedUp                          // those requests have ended
	Starting                          // is about to begin the load
	StartingProfiler                  // asks the server to profile the load
	StartedProfiler                   // the server profiles
	Announced                         // knows what it will send, and when
	StoppingProfiler                  // asks the server to write its profile
	StoppedProfiler                   // the server has written it
	RepeatDone                        // all load tests of a repeat are done
)

// A Loading is a load that has begun.
type Loading struct {
	// Epoch is when the clock started.
	Epoch time.Time

	// Began is when the first measured request was sent, after a delay and a warm-up.
	Began time.Duration

	// Total is the number of requests, if it is known beforehand.
	Total int

	// Until is when the last request will be sent, if Total is unknown; otherwise 0.
	Until time.Duration

	// Loads has one entry for each target.
	Loads []LoadingTarget
}

// A LoadingTarget is one target's part of a Loading.
type LoadingTarget struct {
	Target string

	// Run is the id in the target's Records.
	Run string

	// Total is its part of the Loading's Total.
	Total int

	// Live changes until the load is over.
	Live *engine.Live
}

// A Draining says what was in flight when a run stopped.
type Draining struct {
	// InFlight is the number of requests.
	InFlight int

	// Limit is the time that they still have.
	Limit time.Duration

	// Aborted says that the Plan's own rule stopped the run, not its context.
	Aborted bool
}

// A Result is the outcome of one target's load test.
type Result struct {
	Summary *metrics.Summary

	// Plan is the target's plan, with the seed of the repeat.
	Plan *Plan

	// Requests is the number to send here, of sessions if they have several turns; -1 if only the
	// server's answers bound it.
	Requests int

	// TokenIDs says that prompts were sent as token ids.
	TokenIDs bool

	// Unlisted says which models the server lists instead of the requested one, if the server
	// refused every request; empty if unknown.
	Unlisted string
}

// Quiet is an Observer that ignores everything.
type Quiet struct{}

func (Quiet) Event(Event)                   {}
func (Quiet) Remark(target, text string)    {}
func (Quiet) Loading(Loading) (over func()) { return func() {} }
func (Quiet) Draining(Draining)             {}
func (Quiet) Record(*record.Record)         {}
func (Quiet) Done(*Result)                  {}
