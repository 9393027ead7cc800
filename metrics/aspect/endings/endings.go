// Package endings is how the answers of a run ended: by which finish reason, and whether vLLM's client would say
// the same of them.
package endings

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// Endings are of all measured requests.
type Endings struct {
	// Reasons are the requests by their finish reason, if they have one.
	Reasons tally.Reasons
	// Differing are the answers that vLLM's client judges differently.
	Differing Differing
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "endings", New: func(*metrics.Header) metrics.Aspect { return new(Endings) }, Facts: facts, Text: text,
}

func facts(s *metrics.Summary) (all []metrics.Fact) {
	e := Of(s)
	if len(e.Differing) > 0 {
		all = append(all, metrics.Fact{Key: "otherwise_for_vllm", Value: tally.Reasons(e.Differing)})
	}
	if len(e.Reasons) > 0 {
		all = append(all, metrics.Fact{Key: "finish_reasons", Value: e.Reasons})
	}
	return all
}

const text = `Counted differently by vLLM
	{{.aspect.Differing}}`

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Endings { return metrics.View[Endings](s) }

// Add adds a request.
func (e *Endings) Add(r *record.Record) {
	e.Reasons.Count(r.Answer.Finish, 1)
	(*tally.Reasons)(&e.Differing).Count(r.Result.Differs, 1)
}

// Merge adds another shard's requests.
func (e *Endings) Merge(o metrics.Aspect) {
	other := o.(*Endings)
	e.Reasons.Merge(other.Reasons)
	(*tally.Reasons)(&e.Differing).Merge(tally.Reasons(other.Differing))
}

// Differing counts answers by their Result.Differs.
type Differing tally.Reasons

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

// whys are the reasons in words.
var whys = map[string]string{
	record.DiffersOutput: "all output has names that it does not know", record.DiffersLineEnd: "lines end in CR",
	record.DiffersLines: "events of several data: lines", record.DiffersComment: "comments in a transcription",
	record.DiffersEvent: "event: lines", record.DiffersSpace: "no space after data:",
	record.DiffersCut:     "cut after [DONE]",
	record.DiffersUnended: "no end came", record.DiffersError: "an error came after output",
	record.DiffersUnfinished: "the server gave up",
}

// String says how many answers vLLM's client judges differently, and why; it is empty for none.
func (o Differing) String() string {
	var parts, reasons []string
	if n := o.Sound(); n > 0 {
		parts = append(parts, metrics.Counted(n, "complete answer")+" may have failed there")
	}
	if n := o.Broken(); n > 0 {
		parts = append(parts, metrics.Counted(n, "failed answer")+" would be complete there")
	}
	for _, why := range metrics.ByCount(o) {
		reasons = append(reasons, fmt.Sprintf("%d %s", o[why], cmp.Or(whys[why], why)))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, ", ") + ": " + strings.Join(reasons, ", ")
}
