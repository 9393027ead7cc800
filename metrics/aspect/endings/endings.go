// Package endings is how the answers of a run ended: by which finish reason, and whether vLLM's client would say
// the same of them.
package endings

import (
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Endings are of all measured requests.
type Endings struct {
	// Reasons are the requests by their finish reason, if they have one.
	Reasons metrics.Reasons
	// Differing are the answers that vLLM's client judges differently.
	Differing Differing
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{Name: "endings", New: func(*metrics.Header) metrics.Aspect { return new(Endings) }}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Endings { return metrics.View[Endings](s) }

// Add adds a request.
func (e *Endings) Add(r *record.Record) {
	e.Reasons.Count(r.Answer.Finish, 1)
	(*metrics.Reasons)(&e.Differing).Count(r.Result.Differs, 1)
}

// Merge adds another shard's requests.
func (e *Endings) Merge(o metrics.Aspect) {
	other := o.(*Endings)
	e.Reasons.Merge(other.Reasons)
	(*metrics.Reasons)(&e.Differing).Merge(metrics.Reasons(other.Differing))
}

// Differing counts answers by their Result.Differs.
type Differing metrics.Reasons

// Sound is the number of answers that are complete here and failed for vLLM's client.
func (o Differing) Sound() int {
	n := 0
	for why, answers := range o {
		if !record.Broken(why) {
			n += answers
		}
	}
	return n
}

// Broken is the number of answers that failed here and are complete for vLLM's client.
func (o Differing) Broken() int {
	n := 0
	for why, answers := range o {
		if record.Broken(why) {
			n += answers
		}
	}
	return n
}
