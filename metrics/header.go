package metrics

import (
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// A Header describes a run. It is the first line of the run's record stream.
type Header struct {
	// Run is an id unique to the run, and Shard the index of this shard, from 0. Every line
	// of a stream has both.
	Run   string `json:"-"`
	Shard int    `json:"-"`
	// Shards is how many shards make the run; 0 and 1 both mean one.
	Shards int `json:"shards,omitempty"`
	// Epoch is the wall clock at the start of the run.
	Epoch time.Time `json:"epoch"`
	// StartAt is when all shards agreed to start; zero without such an agreement.
	StartAt time.Time `json:"start_at,omitzero"`
	// ClockOffset is the wall clock less the reference clock, and ClockError bounds its error; 0 if
	// unknown.
	ClockOffset time.Duration `json:"clock_offset,omitempty"`
	ClockError  time.Duration `json:"clock_error,omitempty"`
	// Host is the name of a shard's machine.
	Host string `json:"host,omitempty"`
	// Target is the name of the target, empty if there is only one.
	Target string `json:"target,omitempty"`
	// Group is an id that the runs of one experiment on several targets share.
	Group string `json:"group,omitempty"`
	// Series is an id that repeats of a run share; empty for none.
	Series string `json:"series,omitempty"`
	// Solo says that the target was loaded alone, in a run of a group.
	Solo bool `json:"solo,omitempty"`
	// With is the other target of a run of a group in which only two of its targets were loaded.
	With string `json:"with,omitempty"`
	// Server is the start of the server that the run measured; nil if unknown, and for a target with
	// several replicas.
	Server *ServerStart `json:"server,omitempty"`
	// Rule is how the sequential sweep that made the run decides: its arms and its gate; nil for other runs.
	Rule *Rule `json:"rule,omitempty"`
	// Wake is how the server woke up before the load; nil if it was not put to sleep.
	Wake *Wake `json:"wake,omitempty"`
	// Delay is how long nothing was sent at first, and WarmUp how long the warm-up after that took,
	// before the measured part.
	Delay  time.Duration `json:"delay,omitempty"`
	WarmUp time.Duration `json:"warm_up,omitempty"`
	// Sampled says that the server or GPUs were sampled during the run.
	Sampled bool `json:"sampled,omitempty"`
	// Version is the version of the program that made the stream.
	Version string `json:"version,omitempty"`
	// Commit is the commit from which that program was built, with +dirty behind it if files had been
	// changed; empty if unknown.
	Commit string `json:"commit,omitempty"`
	// Definitions are the release of vLLM by whose rules a Summary counts; the records of a stream work with
	// all of them.
	Definitions record.Definitions `json:"definitions,omitempty"`
	// Flags are the command line, with every value in effect.
	Flags []KV `json:"flags,omitempty"`
	// Config is what a report needs to know of them.
	Config Config `json:"config"`
}

// A Rule is how the pairs of a sequential sweep decide, so that whoever reads its runs later comes to the
// same verdict.
type Rule struct {
	Old  string `json:"old"`  // name of the old arm
	New  string `json:"new"`  // name of the new arm
	Gate string `json:"gate"` // gate file, in one line
	// Instead is the Gate that the sweep recorded, where a reader has another; else it is empty.
	Instead string `json:"-"`
}

// Began is when the measured part began, on the clock of the Records.
func (h *Header) Began() time.Duration { return h.Delay + h.WarmUp }

// Start is when the run or its shard began, by the reference clock.
func (h *Header) Start() time.Time { return h.Epoch.Add(-h.ClockOffset) }

// TargetName is the run's target, and whether it was loaded alone or with one other, as in "a with
// b"; empty if there is only one target.
func (h *Header) TargetName() string { return strings.TrimSpace(h.Target + " " + h.Part(" ")) }

// Part says in which part of its group's targets the run was, its words joined by a separator:
// alone, or with and the other target. It is empty if all were loaded.
func (h *Header) Part(separator string) string {
	switch {
	case h.Solo:
		return "alone"
	case h.With != "":
		return "with" + separator + h.With
	}
	return ""
}

// InForce are the Definitions of the run's latencies; empty if all give the same, as for
// completions, or if they are unknown.
func (h *Header) InForce() record.Definitions {
	if h.Config.Whole && !h.Config.Traits.Pooled || !h.Config.Redefined() || h.Definitions == "" {
		return ""
	}
	return h.Definitions
}

// Redefined reports whether Definitions count the answers differently. They do so for chats and for
// pooling endpoints.
func (c *Config) Redefined() bool { return c.Traits.Chat || c.Traits.Pooled }

// Counted is a record of the run by the header's Definitions.
func (h *Header) Counted(r *record.Record) *record.Record { return h.Definitions.Of(r) }

// SimulatedKey is the metadata of a run that took place in time that does not pass. It has no verdict,
// since neither a client nor a server was measured.
const SimulatedKey = "simulated"

// Simulated reports whether the run took place in time that does not pass.
func (h *Header) Simulated() bool { return Value(h.Config.Metadata, SimulatedKey) != "" }

// An Origin is where a recorded run is: the run with that Number, from 1 on, among Of runs of a
// File. The zero value is an unknown origin.
type Origin struct {
	File       string
	Number, Of int
}

// String is FILE:NUMBER, as commands take it, or only the file if it has a single run.
func (o Origin) String() string {
	if o.Of < 2 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Number)
}
