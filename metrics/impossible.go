package metrics

import "fmt"

// errImpossible is the Error of a request whose times cannot be.
const errImpossible = "its answer is stamped before it was sent"

// impossible says that a chunk of r came before r was sent. No latency of such a
// request means anything: a clock was set, or its line is damaged.
func (r *Record) impossible() bool {
	first := r.Chunks.Len() > 0 && r.Chunks.First() < r.Sent
	return first || r.Last != 0 && r.Last < r.Sent
}

// possible is r, or r as a failed request where its times cannot be, and whether
// that is so. It does not change r.
func (r *Record) possible() (*Record, bool) {
	if r.Class != OK || !r.impossible() {
		return r, true
	}
	refused := *r
	refused.Class, refused.Error = Malformed, errImpossible
	return &refused, false
}

// refusals is what there is to say of requests whose times cannot be.
func (c *Collector) refusals() []string {
	if c.refused == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s refused and counted as failed: the answer is stamped before the request was sent, so that TTFT would be negative",
		Counted(c.refused, "request"))}
}
