// Package evidence is what a load generator noticed about itself, its machine, its connections and its server while
// it measured: the basis of the verdict.
//
// Zero in a field means that nothing was noticed, or that nothing watched. Each part adds what another shard noticed,
// which ran at the same time.
package evidence

import (
	"cmp"
	"time"

	"github.com/servebench/servebench/metrics/gpu"
)

// Evidence is all that was noticed during a measurement.
type Evidence struct {
	CPU         CPU         `json:"cpu,omitzero"`
	Pauses      Pauses      `json:"pauses,omitzero"`
	Stamps      Stamps      `json:"stamps,omitzero"`
	Connections Connections `json:"connections,omitzero"`
	Server      Server      `json:"server,omitzero"`

	// WriteBlocked is how long records waited because their stream's reader or disk was slow.
	WriteBlocked time.Duration `json:"write_blocked,omitempty"`
	// Repeated are requests with the same content as an earlier request of the run.
	Repeated int64 `json:"repeated,omitempty"`
	// GPU is what was seen of the GPUs, apart from samples; nil if nothing watched.
	GPU *gpu.State `json:"gpu,omitempty"`
	// OtherInFlight is the most requests in flight at once on the other targets of the process.
	OtherInFlight int `json:"beside,omitempty"`
	// Selftest is the result of a selftest of this machine, nil without one.
	Selftest *Selftest `json:"vouched,omitempty"`
}

// Add adds the evidence of another shard to e, except for the cores. The shards ran perhaps on the same machine, whose
// selftest then covers both together.
func (e *Evidence) Add(other *Evidence, sameMachine bool) {
	e.CPU.add(&other.CPU)
	e.Pauses.add(&other.Pauses)
	e.Stamps.add(&other.Stamps)
	e.Connections.add(&other.Connections)
	e.Server.add(&other.Server)
	e.WriteBlocked = max(e.WriteBlocked, other.WriteBlocked)
	e.Repeated += other.Repeated
	e.GPU = e.GPU.Add(other.GPU)
	e.OtherInFlight += other.OtherInFlight
	if !sameMachine {
		e.Selftest = e.Selftest.together(other.Selftest)
	}
}

// Selftest is the result of a selftest: the load up to which a machine's numbers are right, and the
// load from which on they are wrong. Loads between the two were not tried, or the attempt was void.
type Selftest struct {
	Streams   int           `json:"streams"`              // at once, 0 if not trusted
	ErrorP99  time.Duration `json:"error_p99"`            // of an arrival's stamp, at that load
	WrongFrom int           `json:"wrong_from,omitempty"` // streams at once, 0 if no load was wrong
	Kernel    bool          `json:"kernel,omitempty"`     // it applies to kernel stamps only
	// PerCore is how many chunks a second fill one core, 0 if that is unknown.
	PerCore float64 `json:"per_core,omitempty"`
}

// together combines the selftests of two machines that share the load; nil if one of them has none.
func (v *Selftest) together(other *Selftest) *Selftest {
	if v == nil || other == nil {
		return nil
	}
	both := &Selftest{
		Streams: v.Streams + other.Streams, ErrorP99: max(v.ErrorP99, other.ErrorP99), Kernel: v.Kernel || other.Kernel,
		PerCore: min(v.PerCore, other.PerCore),
	}
	if v.WrongFrom > 0 || other.WrongFrom > 0 {
		both.WrongFrom = cmp.Or(v.WrongFrom, v.Streams) + cmp.Or(other.WrongFrom, other.Streams)
	}
	return both
}
