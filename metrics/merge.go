package metrics

import (
	"cmp"
	"time"
)

// merge adds what another Collector was given, whose clock began so much later. Its
// values come after those of c. The other is of no use afterwards.
func (c *Collector) merge(other *Collector, later time.Duration) {
	c.mergeTimeline(other, later)
	others := other.sum.latencies(nil)
	for name, d := range c.sum.latencies(nil) {
		d.merge(others[name])
	}
	c.witness.merge(&other.witness, later, c.requestCap())
	c.sum.Completed += other.sum.Completed
	c.sum.Failed += other.sum.Failed
	c.sum.Resent.merge(other.sum.Resent)
	c.sum.Mixed = cmp.Or(c.sum.Mixed, other.sum.Mixed)
	c.sum.TotalInput += other.sum.TotalInput
	c.sum.TotalOutput += other.sum.TotalOutput
	c.good += other.good
	c.evened += other.evened
	c.refused += other.refused
	for class, n := range other.sum.Classes {
		c.sum.Classes[class] += n
	}
	for class, f := range other.sum.Failing {
		c.failing(class).merge(f)
	}
	countMessages(c.sum.Errors, other.sum.Errors)
	for _, e := range other.firstErrors {
		c.addFirst(e)
	}
	for _, o := range other.sum.Outcomes {
		o.Start = moved(o.Start, later)
		c.sum.Outcomes = append(c.sum.Outcomes, o)
	}
	c.sum.Lastings = append(c.sum.Lastings, other.sum.Lastings...)
	c.trace.merge(&other.trace, later)
}

// merge adds another trace, which is of no use afterwards.
func (t *Trace) merge(other *Trace, later time.Duration) {
	for _, r := range other.Records {
		r.shift(later)
	}
	for _, s := range other.Samples {
		s.At += later
	}
	t.Records = append(t.Records, other.Records...)
	t.Samples = append(t.Samples, other.Samples...)
}

// mergeTimeline keeps the timeline and the gaps that it shares with ITL together.
func (c *Collector) mergeTimeline(other *Collector, later time.Duration) {
	gaps, others := c.sum.ITL.exact, other.sum.ITL.exact
	if c.timeline.folded != nil || other.timeline.folded != nil || len(gaps)+len(others) > cmp.Or(c.Cap, DefaultCap) ||
		len(c.timeline.spans)+len(other.timeline.spans) > c.requestCap() {
		c.timeline.fold(gaps)
		other.timeline.fold(others)
	}
	c.timeline.merge(&other.timeline, later)
}
