package compare

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

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
	return sequential.NewRule(alpha/float64(tests), 1-confidenceLevel, LeastPairs, most)
}

// look finds the levels for the pairs of a point.
func (c *Comparison) look(p *Point, tests int) {
	p.levels = levels{c.Alpha / float64(max(tests, 1)), 1 - confidenceLevel}
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
				n := sequential.Number{Estimate: r.Evidence.Estimate, Margin: r.Limit(), Excluded: r.promised()}
				if shared, ok := r.Evidence.shared.(stats.Estimate); ok {
					n.Estimate = shared // decides whether the number is fine
				}
				numbers = append(numbers, n)
			}
		}
	}
	return c.rule.Forecast(c.pairs(), numbers)
}

// promised is how far the change reaches on the scale of Estimate that the gate promises to detect.
func (r *Row) promised() float64 {
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

// A Power is how many pairs a gate likely takes, before they are made.
type Power struct {
	Noise []Noise       // of the gated numbers
	Zero  []string      // gated numbers that are 0 in a run. They are not planned for
	Fixed int           // pairs without looks; 0 if they are more than mostFixed
	Most  int           // pairs of a sequential sweep
	Each  time.Duration // that a pair takes; 0 if unknown

	sequential.Design
}

// A Noise is how much pairs of a gated number differ by chance.
type Noise struct {
	Number  metrics.Number
	Load    string  // empty if there is one load
	Share   float64 // standard deviation
	Promise float64 // share by which it must be worse to be found, or not be to pass
}

// mostFixed is the most pairs that a Plan looks for.
const mostFixed = 1000

// PowerOf plans with the noise of runs. Without new runs, the old ones are all alike.
func PowerOf(old, new []*brief.Run, gate gating.Gate, most int) (*Power, error) {
	if len(new) == 0 {
		old, new = halves(old, gate.Counted())
	}
	if len(new) == 0 {
		return nil, tooFewToPlan(gate.Counted())
	}
	c := Compare(old, new, gate)
	p := &Power{Most: most, Each: eachPair(slices.Concat(old, new), gate.Counted()) * time.Duration(len(c.Points))}
	var numbers []sequential.Number
	for i := range c.Points {
		point := &c.Points[i]
		for k := range point.Rows {
			r := &point.Rows[k]
			switch {
			case !r.Judgement.Gated:
				continue
			case !r.Evidence.scale.Logs:
				p.Zero = append(p.Zero, strings.TrimSpace(point.Name()+" "+r.Number.Name))
				continue
			}
			sd := point.noise(r)
			if math.IsInf(sd, 1) {
				return nil, tooFewToPlan(point.unit)
			}
			numbers = append(numbers, sequential.Number{Estimate: stats.Estimate{Err: sd}, Margin: r.Limit(),
				Excluded: r.promised()})
			p.Noise = append(p.Noise, Noise{r.Number, point.Name(), math.Expm1(sd), gating.Promise(r.Judgement.Margin)})
		}
	}
	return p.find(numbers, c.Alpha)
}

// tooFewToPlan is the error for runs that do not show how much units differ.
func tooFewToPlan(unit gating.Unit) error {
	if unit == gating.PerStart {
		return errors.New("too few server starts to tell how much they differ: take at least 3 a side, or --unit run for " +
			"the runs on one start, or give --noise")
	}
	return errors.New("too few runs to tell how much they differ: take at least 3 a side, or give --noise")
}

// PowerFor plans for runs that differ by a share, such as 3%, as a standard deviation.
func PowerFor(noise string, gate gating.Gate, most int) (*Power, error) {
	of, err := gating.ParseShare(noise)
	if err != nil {
		return nil, err
	}
	p := &Power{Most: most}
	var numbers []sequential.Number
	for _, l := range gate.Limits {
		s := stats.Scale{Higher: l.Number.Better == metrics.Higher, Logs: true}
		sd := math.Sqrt2 * math.Log1p(of)
		numbers = append(numbers, sequential.Number{Estimate: stats.Estimate{Err: sd}, Margin: s.Distance(l.Relative),
			Excluded: s.Distance(gating.Promise(l.Relative))})
		p.Noise = append(p.Noise, Noise{l.Number, "", math.Expm1(sd), gating.Promise(l.Relative)})
	}
	return p.find(numbers, gate.Level())
}

// find finds the numbers of pairs.
func (p *Power) find(numbers []sequential.Number, alpha float64) (*Power, error) {
	if len(numbers) == 0 {
		return nil, errors.New("no gated number is above 0 in all runs, so there is nothing to plan")
	}
	worse, fine := alpha/float64(len(numbers)+len(p.Zero)), 1-confidenceLevel
	p.Fixed = sequential.Fixed(worse, fine, numbers, LeastPairs, mostFixed)
	p.Design = sequential.NewRule(worse, fine, LeastPairs, p.Most).Plan(numbers)
	return p, nil
}

// halves divides runs into two sides that take turns.
func halves(runs []*brief.Run, unit gating.Unit) (old, new []*brief.Run) {
	for i, u := range units(runs, unit) {
		if i%2 == 0 {
			old = append(old, u...)
		} else {
			new = append(new, u...)
		}
	}
	return old, new
}

// noise is the standard deviation of the difference of a pair; infinite for too few runs.
func (p *Point) noise(r *Row) float64 {
	if n := len(r.Evidence.Differences); n > 0 {
		return r.Evidence.Estimate.Err * math.Sqrt(float64(n))
	}
	var sides [2][]float64
	for i, units := range [][][]*brief.Run{p.old, p.new} {
		for _, u := range units {
			sides[i] = append(sides[i], r.Evidence.scale.Mean(p.values(&r.Number, u)))
		}
	}
	m, n := float64(len(sides[0])), float64(len(sides[1]))
	return stats.Pooled(sides[0], sides[1]).Err * math.Sqrt(2/(1/m+1/n))
}

// eachPair is how long a pair of the runs takes, with what is between them; 0 if unknown. A pause counts
// as the shortest one, before another start of the server or on the same one: in a longer one there were
// runs that are not among these, or a night.
func eachPair(runs []*brief.Run, unit gating.Unit) time.Duration {
	runs = slices.SortedStableFunc(slices.Values(runs), func(a, b *brief.Run) int { return a.Began.Compare(b.Began) })
	var all time.Duration
	var last *brief.Run // that ended latest
	pauses := map[bool][]time.Duration{}
	for _, r := range runs {
		if r.Began.IsZero() || r.Ended.IsZero() {
			return 0
		}
		switch {
		case last == nil:
			all += r.Ended.Sub(r.Began)
		case r.Began.Before(last.Ended): // of several targets
			all += max(0, r.Ended.Sub(last.Ended))
		default:
			all += r.Ended.Sub(r.Began)
			another := unit == gating.PerStart && r.Start != last.Start
			pauses[another] = append(pauses[another], r.Began.Sub(last.Ended))
		}
		if last == nil || r.Ended.After(last.Ended) {
			last = r
		}
	}
	for _, of := range pauses {
		all += slices.Min(of) * time.Duration(len(of))
	}
	return 2 * all / time.Duration(len(runs))
}

// Describe writes the plan.
func (p *Power) Describe(w io.Writer) error {
	var text strings.Builder
	for _, n := range p.Noise {
		fmt.Fprintf(&text, "%s: pairs differ by %.1f %%, and a change of %.0f %% counts\n",
			strings.TrimSpace(n.Load+" "+n.Number.Name), 100*n.Share, 100*n.Promise)
	}
	for _, name := range p.Zero {
		fmt.Fprintf(&text, "%s: it is 0 in a run, so it is not in this plan\n", name)
	}
	fixed := fmt.Sprintf("more than %d pairs", mostFixed)
	if p.Fixed > 0 {
		fixed = p.takes(float64(p.Fixed))
	}
	fmt.Fprintf(&text, "\nright with a chance of %.0f %% after a fixed number: %s\nsweep --sequential, at most %s:\n",
		100*sequential.Likely, fixed, metrics.Counted(p.Most, "pair"))
	for _, e := range []struct {
		name string
		sequential.Expected
	}{{"nothing has changed", p.Alike}, {"one number is worse", p.Worse}} {
		fmt.Fprintf(&text, "  if %s: %s on average, %s; right with a chance of %.0f %%\n", e.name, p.takes(e.Mean),
			p.likely(e.Likely), math.Floor(100*e.Right))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// takes is a number of pairs with the time that they take.
func (p *Power) takes(pairs float64) string {
	text := strings.TrimSuffix(fmt.Sprintf("%.1f", pairs), ".0") + " pairs"
	if p.Each == 0 {
		return text
	}
	return fmt.Sprintf("%s, about %.0f min", text, math.Ceil(pairs*p.Each.Minutes()))
}

// likely says by when a decision is likely.
func (p *Power) likely(pairs int) string {
	if pairs == 0 {
		return fmt.Sprintf("undecided at the end with a chance above %.0f %%", 100*(1-sequential.Likely))
	}
	return fmt.Sprintf("%d or fewer with a chance of %.0f %%", pairs, 100*sequential.Likely)
}
