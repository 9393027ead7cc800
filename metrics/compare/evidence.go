package compare

import (
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/stats"
)

// resampled reports that each run of the pairs has that percentile.
func (p *Point) resampled(key brief.Percentile) bool {
	return !slices.ContainsFunc(slices.Concat(p.pairs...), func(both pair) bool {
		return both.old.Source.Resampled[key] == 0 || both.new.Source.Resampled[key] == 0
	})
}

// compare finds out what the values of a row say, by the design of the point.
func (p *Point) compare(r *Row, old, new []float64) {
	center := numpy.Mean
	if p.Design == InTurns {
		center = func(values []float64) float64 { return stats.Median(values).Center }
	}
	r.Evidence.scale = stats.ScaleOf(r.Number.Better == metrics.Higher, old, new, center)
	value := func(runs []*brief.Run) float64 { return r.Evidence.scale.Mean(p.values(&r.Number, runs)) }
	key := brief.Percentile{Number: r.Number.Name, FromContent: r.FromContent}
	if r.Evidence.Resampled = p.Design == InPairs && r.Evidence.scale.Logs && p.resampled(key); r.Evidence.Resampled {
		value = func(runs []*brief.Run) float64 {
			return r.Evidence.scale.Mean([]float64{runs[0].Source.Resampled[key]})
		}
	}
	w := p.weigh(value)
	e := &r.Evidence
	e.Differences, e.Estimate, e.trend, e.step = w.differences, w.estimate, w.trend, w.step
	r.conclude(w.distance, w.evidence)
	r.place(w.from)
	if p.Design == Chain {
		r.slowing.trend = stats.Trend(p.courseOf(value).means)
		r.slowing.chance, r.slowing.rest = r.slowing.trend.Above(0)/trendShare, stepShare
		r.Evidence.levels.worse *= stepShare
	}
}

// A weighing is what the values of both sides say about their difference.
type weighing struct {
	from        float64 // where the old runs are
	distance    float64 // by how much new runs differ
	evidence    stats.Evidence
	estimate    stats.Estimate
	differences []float64      // of each unit, if the design is InPairs
	trend       stats.Estimate // that both sides share, from one unit to the next
	step        stats.Step     // the clearest within a side
}

// weigh compares a value of the runs of units by the design of the point.
func (p *Point) weigh(value func([]*brief.Run) float64) (w weighing) {
	if p.Design == Chain {
		values := p.courseOf(value).values
		w.estimate = stats.Next(values[:len(p.old)], values[len(p.old)])
		for _, session := range values[:len(p.old)] {
			w.from += numpy.Mean(session) / float64(len(p.old))
		}
		w.distance, w.evidence = w.estimate.Value, w.estimate
		return w
	}
	if p.Design == InPairs {
		for _, unit := range p.pairs {
			old, sum := 0.0, 0.0
			for _, pair := range unit {
				old += value([]*brief.Run{pair.old})
				sum += value([]*brief.Run{pair.new}) - value([]*brief.Run{pair.old})
			}
			w.differences = append(w.differences, sum/float64(len(unit)))
			w.from += old / float64(len(unit)*len(p.pairs))
		}
		w.estimate = stats.Paired(w.differences)
		w.distance, w.evidence = w.estimate.Value, w.estimate
		return w
	}
	var olds, news []float64
	for _, unit := range p.old {
		olds = append(olds, value(unit))
	}
	for _, unit := range p.new {
		news = append(news, value(unit))
	}
	if p.Design == InTurns {
		shift := stats.Shift{Old: olds, New: news}
		w.from = stats.Median(olds).Center
		w.estimate, w.distance, w.evidence = stats.Pooled(olds, news), shift.Value(),
			stats.Agreement[stats.Evidence]{shift, stats.Unlike(olds, news)}
		return w
	}
	w.from = numpy.Mean(olds)
	w.estimate, w.step = stats.Batches(olds, news), stats.ClearestStep(olds, news)
	var detrended stats.Estimate
	if p.reversed() {
		detrended, w.trend = stats.Detrended(news, olds)
		detrended.Value = -detrended.Value
	} else {
		detrended, w.trend = stats.Detrended(olds, news)
	}
	w.distance, w.evidence = w.estimate.Value, stats.Agreement[stats.Estimate]{w.estimate, detrended}
	return w
}

// reversed reports that the new runs came before the old ones.
func (p *Point) reversed() bool { return p.new[0][0].Began.Before(p.old[0][0].Began) }

// conclude sets the effect and the chance of a row.
func (r *Row) conclude(distance float64, evidence stats.Evidence) {
	e := &r.Evidence
	tail := e.levels.fine / 2
	e.found, e.distance = evidence, distance
	r.bounded(evidence)
	low, high := evidence.Lower(tail), evidence.Upper(tail)
	r.Effect.Share, r.Effect.Low, r.Effect.High = e.scale.Share(distance), e.scale.Share(low), e.scale.Share(high)
	if e.scale.Higher {
		r.Effect.Low, r.Effect.High = r.Effect.High, r.Effect.Low
	}
	if math.IsInf(low, -1) || math.IsInf(high, 1) {
		r.Effect.Low, r.Effect.High = math.Inf(-1), math.Inf(1)
	}
}

// place sets where the change begins, which is at from on the scale, and where it ends.
func (r *Row) place(from float64) {
	e, scale := &r.Effect, r.Evidence.scale
	if e.From = scale.Number(from); scale.Whole > 0 {
		e.From = scale.Whole
	}
	if e.To = e.From * (1 + e.Share); r.fromZero() {
		e.To = scale.Number(from + r.Evidence.distance)
	}
	e.From, e.To = exact(e.From, r.Old.Center), exact(e.To, r.New.Center)
}

// exact is v, or median if they differ by rounding alone, as of a single run.
func exact(v, median float64) float64 {
	if math.Abs(v-median) <= 1e-12*math.Abs(median) {
		return median
	}
	return v
}

// bounded sets what the new runs are worse at most.
func (r *Row) bounded(by stats.Evidence) {
	e := &r.Evidence
	e.shared, e.bound = by, by.Upper(e.levels.fine)
	r.Effect.Worst = r.forWorse(e.scale.Share(e.bound))
	if math.IsInf(e.bound, 1) {
		r.Effect.Worst = e.bound
	}
}

// share bounds the gated rows of several loads with as many units by the error that they share.
// Otherwise, the more loads there are, the more likely one is too noisy by chance.
func (c *Comparison) share() {
	type kind struct {
		name     string
		design   Design
		old, new int
	}
	rows := map[kind][]*Row{}
	for i := range c.Points {
		p := &c.Points[i]
		old, new := p.Units()
		for k := range p.Rows {
			if r := &p.Rows[k]; r.Judgement.due() && r.Evidence.scale.Logs {
				of := kind{r.Number.Name, p.Design, old, new}
				rows[of] = append(rows[of], r)
			}
		}
	}
	for _, alike := range rows {
		if len(alike) > 1 {
			shareAmong(alike)
		}
	}
}

func shareAmong(rows []*Row) {
	var estimates, detrended []stats.Estimate
	for _, r := range rows {
		estimates = append(estimates, r.Evidence.Estimate)
		if both, inOrder := r.Evidence.found.(stats.Agreement[stats.Estimate]); inOrder {
			detrended = append(detrended, both[1])
		}
	}
	estimates, detrended = stats.SharedErrors(estimates), stats.SharedErrors(detrended)
	for i, r := range rows {
		if detrended == nil {
			r.bounded(estimates[i])
		} else {
			r.bounded(stats.Agreement[stats.Estimate]{estimates[i], detrended[i]})
		}
	}
}

// Limit is the margin on the scale of Estimate and Differences: how far a change that is still within it reaches.
func (r *Row) Limit() float64 {
	if math.IsInf(r.Judgement.Margin, 1) {
		return r.Judgement.amount
	}
	return r.Evidence.scale.Distance(r.Judgement.Margin)
}

// Noise is the standard deviation of the difference of a pair, on the scale of Estimate; infinite for too few
// runs. It is unknown of a number that is not above 0.
func (p *Point) Noise(r *Row) (sd float64, known bool) {
	if !r.Evidence.scale.Logs {
		return 0, false
	}
	if n := len(r.Evidence.Differences); n > 0 {
		return r.Evidence.Estimate.Err * math.Sqrt(float64(n)), true
	}
	var sides [2][]float64
	for i, units := range [][][]*brief.Run{p.old, p.new} {
		for _, u := range units {
			sides[i] = append(sides[i], r.Evidence.scale.Mean(p.values(&r.Number, u)))
		}
	}
	m, n := float64(len(sides[0])), float64(len(sides[1]))
	return stats.Pooled(sides[0], sides[1]).Err * math.Sqrt(2/(1/m+1/n)), true
}
