package compare

import (
	"fmt"
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/sequential"
	"github.com/servebench/servebench/metrics/stats"
)

// levels are the levels of the one-sided tests of a number: of the test that finds it worse, and of
// the one that excludes a change.
type levels struct{ worse, fine float64 }

// ruleOf is the rule of the sequential sweep that made the runs, nil for other runs. Such a sweep stops
// when it sees a decision, so that the tests of a fixed number of pairs err too often, also when
// somebody compares the runs later.
func ruleOf(runs []*brief.Run, alpha float64, tests int) *sequential.Rule {
	most := 0
	for _, r := range runs {
		most = max(most, r.MaxPairs)
	}
	if most < LeastPairs || tests == 0 {
		return nil
	}
	return sequential.NewRule(alpha/float64(tests), 1-Confidence, LeastPairs, most)
}

// look finds the levels for the pairs of a point.
func (c *Comparison) look(p *Point, tests int) {
	p.levels = levels{c.Alpha / float64(max(tests, 1)), 1 - Confidence}
	if c.rule == nil || p.Design != InPairs {
		return
	}
	p.most = c.rule.Most
	if pairs, _ := p.Units(); pairs >= c.rule.First {
		at := min(pairs, c.rule.Most)
		p.levels = levels{c.rule.Worse(at), c.rule.Fine(at)}
	}
}

// forLooks corrects p values for the count of the gated numbers and of the looks.
func (c *Comparison) forLooks(rows []*Row, p []float64) {
	for i, r := range rows {
		p[i] = min(1, p[i]*c.Alpha/r.Evidence.levels.worse)
	}
}

// Forecast is the chance of a verdict by more pairs of a sequential sweep; empty for other runs.
func (c *Comparison) Forecast() sequential.Forecast {
	if c.rule == nil {
		return nil
	}
	var numbers []sequential.Number
	for i := range c.Points {
		p := &c.Points[i]
		for _, r := range p.Rows {
			if r.Judgement.due() {
				n := sequential.Number{Estimate: r.Evidence.Estimate, Margin: r.Limit(), Excluded: r.Promised()}
				if shared, ok := r.Evidence.shared.(stats.Estimate); ok {
					n.Estimate = shared // decides whether the number is fine
				}
				numbers = append(numbers, n)
			}
		}
	}
	return c.rule.Forecast(c.pairs(), numbers)
}

// Promised is how far the change reaches on the scale of Estimate that the gate promises to detect.
func (r *Row) Promised() float64 {
	if r.fromZero() {
		return 2 * r.Judgement.amount
	}
	return r.Evidence.scale.Distance(gating.Promise(r.Judgement.Margin))
}

// Sequential reports that a sequential sweep made the runs, which looked at them after each pair.
func (c *Comparison) Sequential() bool { return c.rule != nil }

// unlikely is the chance of a decision below which more pairs are futile.
const unlikely = 0.1

// Futile gives up if the pairs so far, which after describes, are the most, or if so many more would
// hardly bring a decision.
func (c *Comparison) Futile(after string, more int) bool {
	forecast := c.Forecast()
	switch chance := forecast.By(more); {
	case more <= 0:
		c.GiveUp(after + ", which are the most")
	case chance < unlikely:
		c.GiveUp(fmt.Sprintf("%s: the chance of a decision by %d is %.0f %%", after, c.pairs()+more, math.Floor(100*chance)))
	default:
		return false
	}
	return true
}

// Conclude gives up as the sequential sweep that made the runs did, if it did because of their numbers.
func (c *Comparison) Conclude() {
	if c.rule == nil || c.Verdict != NoVerdict || !c.Judged {
		return
	}
	after := "after " + metrics.Counted(c.pairs(), "pair")
	if c.leftOut > 0 {
		after += " and " + metrics.Counted(c.leftOut, "disturbed one")
	}
	c.Futile(after, len(c.Forecast())-c.spent)
}

// pairs are the pairs of the load that has the fewest.
func (c *Comparison) pairs() int {
	pairs := math.MaxInt
	for i := range c.Points {
		n, _ := c.Points[i].Units()
		pairs = min(pairs, n)
	}
	return pairs
}

// GiveUp makes a verdict of the reason why no more pairs are made.
func (c *Comparison) GiveUp(why string) {
	c.Verdict, c.Reasons = Futile, append([]string{why}, c.Reasons...)
}
