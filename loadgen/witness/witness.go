// Package witness compares what a server counts with what a run sent to it.
//
// A Witness looks at the server's counters before the load and after it, and counts requests and prompts meanwhile. The
// difference of the counters is what the server did for the run, unless another process has answered, or somebody else
// has sent requests as well. Then the witness says so, and the verdict has it.
package witness

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/repeats"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/scrape"
	"github.com/servebench/servebench/metrics/trust"
)

// A Witness notices what the server counts during a run, and which prompts are sent. It is not safe for concurrent
// use.
type Witness struct {
	Counters func(context.Context) []scrape.Counters // one for each replica; nil unless all report
	Before   []scrape.Counters                       // by Look
	Prompts  repeats.History
	Answers  int // to each request, each of which looks up the prompt; 0 for one
	requests int // counted each time that they were sent
	tokens   int // in their prompts
}

// Look notes what the server has counted so far.
func (w *Witness) Look(ctx context.Context) { w.Before = w.Counters(ctx) }

// Send counts a request.
func (w *Witness) Send(rec *record.Record) {
	w.Prompts.Send(rec)
	times := max(rec.Attempts, 1) * max(w.Answers, 1)
	w.requests += times
	w.tokens += times * rec.Tokens.In
}

// What a request may look up that we do not know about, such as a chat's template.
const (
	unknownShare  = 0.5 // of its prompt
	unknownTokens = 100
)

// Most is how many prompt tokens the server can have looked up for the requests of this shard, out
// of so many shards, and for so many other requests.
func (w *Witness) Most(beside, shards int) int64 {
	if w.requests == 0 {
		return 0
	}
	each := float64(w.tokens)/float64(w.requests)*(1+unknownShare) + unknownTokens
	return int64(each*float64(w.requests+beside)) * int64(max(shards, 1))
}

// Report adds the findings to s and its Evidence, and judges s. At most so many prompt tokens
// could be looked up.
func (w *Witness) Report(ctx context.Context, s *metrics.Summary, most int64) {
	if s.Evidence != nil {
		if w.Before != nil {
			w.compare(ctx, s, most)
		}
		s.Evidence.Repeated = w.Prompts.Repeated
	}
	trust.Judge(s)
}

// compare adds to s what the server counted since look, or why this says nothing about the run. It
// asks twice, as vLLM's client does: that may reveal a load balancer.
func (w *Witness) compare(ctx context.Context, s *metrics.Summary, most int64) {
	after, again := w.Counters(ctx), w.Counters(ctx)
	if after == nil {
		return
	}
	several := cmp.Or(processes.Of(s).Mixed, w.several(after, again))
	s.Evidence.Server.Restarted = cmp.Or(s.Evidence.Server.Restarted, w.restart(after, again, s.Header.Start()), several)
	s.Evidence.Server.Mixed = cmp.Or(several, w.others(after, most))
	if s.Evidence.Server.Mixed == "" {
		w.count(s, after)
	}
}

// restart says that a process which reports began after the run did, at began: it replaced another one.
// Behind a load balancer, the processes of several replicas have begun before. It is empty otherwise.
func (w *Witness) restart(after, again []scrape.Counters, began time.Time) string {
	for i := range after {
		before, now, then := w.Before[i].Sample.Start, after[i].Sample.Start, again[i].Sample.Start
		if before == nil || now == nil || then == nil || *now != *then || *now == *before {
			continue
		}
		if at := time.UnixMicro(int64(*now * 1e6)); at.After(began) {
			return fmt.Sprintf("its process began %.1f s after the run did", at.Sub(began).Seconds())
		}
	}
	return ""
}

// several says why the counts are of several processes: after is the server's first answer, and again
// its next, without a request in between. It is "" if they may be of one.
func (w *Witness) several(after, again []scrape.Counters) string {
	for i := range after {
		if why := w.Before[i].Sample.Contradicts(&after[i].Sample); why != "" {
			return why
		}
	}
	for i := range again {
		if why := after[i].Sample.Contradicts(&again[i].Sample); why != "" {
			return why
		}
	}
	return ""
}

// others says why the counts include other load than this run's; "" if they may not.
func (w *Witness) others(after []scrape.Counters, most int64) string {
	if n := addedUp(after).PrefixQueries - addedUp(w.Before).PrefixQueries; n > most {
		return fmt.Sprintf("%d prompt tokens were looked up in the prefix cache, and this run sent %d", n, w.tokens)
	}
	return ""
}

// count adds to s what the server did for the run.
func (w *Witness) count(s *metrics.Summary, after []scrape.Counters) {
	before, later := addedUp(w.Before), addedUp(after)
	s.Printed.SpecDecode = before.SpecDecode(later)
	s.Printed.Diffusion = before.Diffusion(later, s.When.Seconds+s.Header.WarmUp.Seconds())
	if times := later.Times.Since(before.Times); times != (samples.Totals{}) {
		s.Evidence.Server.Times = &times
	}
	s.Evidence.Server.PrefixQueries, s.Evidence.Server.PrefixHits = later.PrefixQueries-before.PrefixQueries,
		later.PrefixHits-before.PrefixHits
}

// addedUp is the sum over replicas.
func addedUp(replicas []scrape.Counters) (sum scrape.Counters) {
	for _, c := range replicas {
		sum = sum.Plus(c)
	}
	return sum
}
