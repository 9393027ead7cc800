package trust

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/held"
	"github.com/servebench/servebench/metrics/aspect/late"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file checks the load, the answers, and the shards that made both.

func (j *judge) completed() (verdict.Check, bool) {
	c := verdict.Check{Name: "completed", Figure: float64(j.run.Completed), Unit: "requests", Limit: completedLimit,
		AtLeast: true, Remedy: "read the errors"}
	c.Text = fmt.Sprintf("%d of %s completed", j.run.Completed, metrics.Counted(j.run.Completed+j.run.Failed, "request"))
	if j.run.Completed == 0 {
		c.Text = "no request completed"
	}
	return c, true
}

// whole finds that a part of the requests is missing. The check of shards reports missing shards.
func (j *judge) whole() (verdict.Check, bool) {
	c := verdict.Check{Name: "incomplete", Figure: float64(len(j.run.Ending.Incomplete)), Unit: "faults",
		Remedy: "run it again: what is missing may be what took longest"}
	c.Text = strings.Join(j.run.Ending.Incomplete, "; ")
	return c, c.Text != "" && j.run.Source.Shards == nil
}

// rate compares the achieved with the requested rate, and says which of two delays was longer.
func (j *judge) rate() (verdict.Check, bool) {
	p := pace.Of(j.run)
	c := verdict.Check{Name: "rate", Unit: "%", AtLeast: true}
	c.Figure, c.Limit = p.Kept()
	unit := "req/s"
	if sessions.Of(j.run) != nil {
		unit = "sessions/s"
	}
	c.Text = fmt.Sprintf("sent %.2f of the %.2f %s scheduled", p.Achieved(), p.Asked(), unit)
	switch {
	case c.Fine():
	case p.Queue > p.Lag:
		c.Remedy = "raise --max-concurrency, or lower the rate"
		if j.waitsForSessionSlots() {
			c.Remedy = "raise " + j.sessionSlotsFlag() + ", or lower the rate"
			c.Text += fmt.Sprintf(": "+j.sessionSlotsFlag()+" held sessions back, for %s on average",
				verdict.ShowMS(metrics.Milliseconds(p.MeanQueue())))
			break
		}
		c.Text += fmt.Sprintf(": %s, for %s on average", verdict.HeldBack,
			verdict.ShowMS(metrics.Milliseconds(p.MeanQueue())))
	default:
		c.Remedy = j.lateRemedy(quieter)
		c.Text += fmt.Sprintf(": we were late ourselves, by %s on average", verdict.ShowMS(metrics.Milliseconds(p.MeanLag())))
	}
	// If the server did not keep up, the backlog says so.
	return c, p.Due > 0 && p.Sent > 0 && !pace.HeldBack(j.run)
}

// slots finds that requests waited for slots of --max-concurrency, which no latency includes: a server that
// stalls then delays requests that were not yet sent. Gil Tene calls this coordinated omission.
func (j *judge) slots() (verdict.Check, bool) {
	c := verdict.Check{Name: "slots", Unit: "ms", Limit: max(slotsLimitMS, slotsLimit/100*mean(&j.run.E2EL)),
		Remedy: "raise --max-concurrency, or read the latencies from when requests were due (--extended)"}
	if !j.run.Header.Config.Paced() || j.run.Header.Config.MaxConcurrency == 0 || j.run.Client.Queue.Len() == 0 ||
		since.Of(j.run).ScheduledTTFT.Len()+since.Of(j.run).ScheduledE2EL.Len() == 0 {
		return c, false
	}
	c.Figure = j.run.Client.Queue.Mean()
	name, first := j.first()
	due := &since.Of(j.run).ScheduledTTFT
	if j.run.Header.Config.Whole {
		due = &since.Of(j.run).ScheduledE2EL
	}
	c.Text = fmt.Sprintf("%s, for %s on average, which latencies leave out: P99 %s is %s, and %s from when requests "+
		"were due",
		verdict.HeldBack, verdict.ShowMS(c.Figure), name, verdict.ShowMS(first.Percentile(99)),
		verdict.ShowMS(due.Percentile(99)))
	rate, paced := j.rate()
	// Another check or note says these.
	said := paced && !rate.Fine() || pace.HeldBack(j.run) || j.waitsForSessionSlots()
	return c, !said && c.Figure > 0
}

// backlog is the growth of requests that were due and had not ended, while others were still due.
// Without a limit, each of them slows down the others. With --max-concurrency they wait for a slot
// instead, so latencies from when a request was sent do not grow.
func (j *judge) backlog() (verdict.Check, bool) {
	b := backlog.Of(j.run)
	if !b.Judged {
		return verdict.Check{}, false
	}
	c := verdict.Check{Name: verdict.BacklogCheck, Figure: b.Growth / b.Offered * 100, Unit: "% of the rate",
		Limit:  max(backlog.GrowthLimit, b.Chance/b.Offered) * 100,
		Remedy: "lower the rate, or use a faster server"}
	c.Text = "the backlog did not grow beyond chance"
	if !c.Fine() {
		decimals := max(0, 1-int(math.Floor(math.Log10(b.Growth)))) // two significant digits
		grew := fmt.Sprintf("the backlog grew by %.*f requests a second", decimals, b.Growth)
		c.Text = grew + "; these latencies depend on how long the run was"
		if j.slotsFull() {
			c.Text = fmt.Sprintf("--max-concurrency %d held requests back: %s; latencies from when a request was due depend "+
				"on how long the run was",
				j.run.Header.Config.MaxConcurrency, grew)
			c.Remedy = "raise --max-concurrency, or lower the rate"
		}
	}
	return c, true
}

// slotsFull reports that most requests had to wait until another one released its slot, so the
// backlog grew in front of the slots.
func (j *judge) slotsFull() bool {
	queue := &j.run.Client.Queue
	return j.run.Header.Config.MaxConcurrency > 0 && pace.HeldBack(j.run) && queue.Len() > 0 && queue.Median() > 0
}

func (j *judge) little() (verdict.Check, bool) {
	h := held.Of(j.run)
	if h.Mean <= 0 || !j.waitsForSlots() {
		return verdict.Check{}, false
	}
	part := h.Share * 100 / metrics.Milliseconds(h.Mean) // share of E2EL of one millisecond
	c := verdict.Check{Name: "Little's law", Figure: h.Share * 100, Unit: "%", Limit: max(heldLimit, heldLimitMS*part),
		Remedy: "find out why the server ends its answers late"}
	c.Text = fmt.Sprintf("requests held their slot for %s after the last chunk (%s of E2EL)",
		verdict.ShowMS(metrics.Milliseconds(h.Mean)), verdict.ShowPercent(c.Figure))
	if h.Unread > h.Mean/2 {
		c.Remedy = j.lateRemedy(quieter)
	}
	if h.Unread > 0 {
		c.Text += fmt.Sprintf(", up to %s of that because we read late", verdict.ShowMS(metrics.Milliseconds(h.Unread)))
	}
	return c, true
}

// waitsForSlots reports that requests wait until another one releases its slot. In a closed loop
// they do as soon as there are more of them than slots.
func (j *judge) waitsForSlots() bool {
	c := &j.run.Header.Config
	closed := !c.Paced() && math.IsInf(c.RequestRate, 1) && j.run.Completed+j.run.Failed > c.MaxConcurrency
	return c.MaxConcurrency > 0 && (closed || j.run.Client.Queue.Len() > 0 && j.run.Client.Queue.Percentile(99) > 0)
}

func (j *judge) connecting() (verdict.Check, bool) {
	conns := &j.seen.Connections
	connecting := connecting.Of(j.run)
	c := verdict.Check{Name: "connecting", Unit: "%", Limit: connectLimit, Remedy: "use --warm-connections"}
	beforehand := ""
	switch {
	case conns.Closed+conns.Dropped > 0:
		c.Remedy = "have the server keep connections open, which it closes after its answers"
	case conns.Warmed > 0:
		c.Remedy = "raise the server's time limit on idle connections, which it may have closed"
		beforehand = fmt.Sprintf(" in spite of %s opened beforehand", metrics.Counted(int(conns.Warmed), "connection"))
	}
	all := metrics.Milliseconds(connecting.DNS + connecting.Connect + connecting.Proxy + connecting.TLS)
	name, first := j.first()
	if sum := first.Mean() * float64(first.Len()); sum > 0 {
		c.Figure = all / sum * 100
		c.Limit = max(connectLimit, connectLimitMS*float64(connecting.Of)/sum*100)
	}
	c.Text = fmt.Sprintf("%d of %s connected inside %s (mean %s)",
		connecting.Requests, metrics.Counted(connecting.Of, "request"), name,
		verdict.ShowMS(metrics.Milliseconds(connecting.Mean()))) + beforehand
	return c, connecting.Requests > 0
}

// gaps are the gaps between tokens, or else between chunks. Gaps between tokens leave out chunks
// without tokens, such as a chat's role.
func (j *judge) gaps() *metrics.Distribution {
	if itl := &tokens.Of(j.run).ITL; itl.Len() > 0 {
		return itl
	}
	return &j.run.ITL
}

func (j *judge) lumpy() (verdict.Check, bool) {
	gaps := j.gaps()
	c := verdict.Check{Name: "lumpy delivery", Unit: "%", Limit: lumpyLimit, AtLeast: true,
		Remedy: "turn off the buffering of a proxy"}
	if gaps.Len() < lumpyGaps || gaps.Mean() <= lumpyMeanMS {
		return c, false
	}
	c.Figure = gaps.Median() / gaps.Mean() * 100
	c.Text = fmt.Sprintf("median ITL %s of mean %s", verdict.ShowMS(gaps.Median()), verdict.ShowMS(gaps.Mean()))
	if !c.Fine() {
		edge := min(lumpyMeanMS, gaps.Mean()*lumpyLimit/100)
		small := below(gaps, edge)
		rest := gaps.Percentile(100 * (small + 0.95*(1-small)))
		c.Text = fmt.Sprintf("lumpy delivery: %s of the gaps are under %s, p95 of the others is %s: does a proxy batch?",
			verdict.ShowPercent(small*100), verdict.ShowMS(edge), verdict.ShowMS(rest))
	}
	// What we read late is lumpy because of us, and chunks of several answers because of the request.
	_, several := j.several()
	return c, (!j.late() || j.bundled()) && !several && !delivery.Repeats(j.run)
}

// bundled reports that most chunks that shared a read arrived together: what shares a read because
// we read late is marked. It cannot tell if requests failed: their chunks share reads as well, but
// their marks do not count.
func (j *judge) bundled() bool {
	marked := int64(late.Of(j.run).Chunks)
	return j.run.Failed == 0 && marked > 0 && 2*marked < j.seen.Stamps.SharedReads
}

// prefixHits finds prompts that the server knew from before the run. A session finds its history in
// the cache, so only its first turn counts.
func (j *judge) prefixHits() (verdict.Check, bool) {
	forgiven := int64(prefixForgiven)
	if prompts.Templated(j.run) {
		forgiven = prompts.TemplateChat // its beginning is the same in all chats, and no prompt of the dataset has it
	}
	hits, queries := counts.PrefixCache(j.run)
	c, found := j.inCache(hits, queries, j.run.Completed+j.run.Failed, forgiven)
	c.Text = fmt.Sprintf("the server had %s of the prompt tokens in its prefix cache", verdict.ShowPercent(c.Figure))
	found = found && !j.sharesPrefixes()
	if hits, of, known := j.knownBefore(); known {
		c, found = j.inCache(hits, of, sessions.Of(j.run).Rows[0].Sent, forgiven)
		c.Text = fmt.Sprintf("the server had %s of the first turns' prompt tokens in its prefix cache though no earlier "+
			"prompt of the run has them", verdict.ShowPercent(c.Figure))
	}
	return c, found
}

// inCache checks how many prompt tokens of some requests the server had in its prefix cache, of each
// of which so many are forgiven.
func (j *judge) inCache(hits, queries int64, requests int, forgiven int64) (verdict.Check, bool) {
	c := verdict.Check{Name: "prefix cache", Figure: verdict.Percent(hits, queries), Unit: "%", Limit: prefixLimit,
		Remedy: "use another --seed, or reset the cache"}
	if requests > 0 {
		c.Limit = max(c.Limit+100/float64(requests), verdict.Percent(forgiven*int64(requests), queries))
	}
	return c, queries > 0
}

// byTemplate reports that the server had no more in its prefix cache than a chat template's beginning
// in each of so many prompts.
func (j *judge) byTemplate(hits int64, asked int) bool {
	return prompts.Templated(j.run) && hits <= prompts.TemplateChat*int64(asked)
}

// sharesPrefixes reports whether the prompts of the workload share a beginning, or repeat.
func (j *judge) sharesPrefixes() bool {
	repeats := float64(j.seen.Repeated) > repeatedLimit*float64(j.run.Completed+j.run.Failed)
	traits := &j.run.Header.Config.Traits
	return traits.SharedPrefixes || repeats || traits.Answers > 1 || j.run.Truth.LaterTurns
}

// below is the share of d's values less than that many milliseconds. d has values.
func below(d *metrics.Distribution, limit float64) float64 {
	n := int64(0)
	for _, bar := range d.Histogram().Distribution() {
		if bar.To < int64(limit*float64(time.Millisecond)) {
			n += bar.Count
		}
	}
	return float64(n) / float64(d.Len())
}

// shards finds shards that are missing, incomplete, or have other parameters.
func (j *judge) shards() (verdict.Check, bool) {
	s := j.run.Source.Shards
	if s == nil {
		return verdict.Check{}, false
	}
	c := verdict.Check{Name: "shards", Figure: float64(s.Sound), Unit: "shards", Limit: float64(s.Of), AtLeast: true,
		Remedy: "report all shards, or run it again"}
	c.Text = fmt.Sprintf("all %d shards are there", s.Of)
	if len(s.Faults) > 0 {
		c.Figure = min(c.Figure, c.Limit-1) // a surplus shard may be the faulty one
		c.Text = strings.Join(s.Faults, "; ")
	}
	return c, true
}

// shardStarts finds shards that began at different times.
func (j *judge) shardStarts() (verdict.Check, bool) {
	s := j.run.Source.Shards
	if s == nil || s.Late == nil {
		return verdict.Check{}, false
	}
	took := j.run.When.Seconds * float64(time.Second/time.Millisecond)
	c := verdict.Check{Name: "shard starts", Figure: metrics.Milliseconds(s.Apart()), Unit: "ms",
		Limit: max(startsLimit, startsLimitOfRun/100*took), Remedy: "use --start-at, and clocks that agree"}
	c.Text = fmt.Sprintf("shards began %s apart, %s last", verdict.ShowMS(c.Figure), s.Last)
	return c, true
}
