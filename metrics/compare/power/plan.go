// Package power says how many pairs a gate likely takes, before they are made.
//
// A Plan is made of runs, which show how much pairs differ by chance, or of that share itself. It has the number of
// pairs without looks, and what a sequential sweep is expected to take.
package power

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/sequential"
	"github.com/servebench/servebench/metrics/stats"
)

// A Plan is how many pairs a gate likely takes, before they are made.
type Plan struct {
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

// Of plans with the noise of runs. Without new runs, the old ones are all alike.
func Of(old, new []*brief.Run, gate gating.Gate, most int) (*Plan, error) {
	if len(new) == 0 {
		old, new = halves(old, gate.Counted())
	}
	if len(new) == 0 {
		return nil, tooFewToPlan(gate.Counted())
	}
	c := compare.Compare(old, new, gate)
	p := &Plan{Most: most, Each: eachPair(slices.Concat(old, new), gate.Counted()) * time.Duration(len(c.Points))}
	var numbers []sequential.Number
	for i := range c.Points {
		point := &c.Points[i]
		for k := range point.Rows {
			r := &point.Rows[k]
			if !r.Judgement.Gated {
				continue
			}
			sd, known := point.Noise(r)
			if !known {
				p.Zero = append(p.Zero, strings.TrimSpace(point.Name()+" "+r.Number.Name))
				continue
			}
			if math.IsInf(sd, 1) {
				return nil, tooFewToPlan(point.Unit())
			}
			numbers = append(numbers, sequential.Number{Estimate: stats.Estimate{Err: sd}, Margin: r.Limit(),
				Excluded: r.Promised()})
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

// For plans for runs that differ by a share, such as 3%, as a standard deviation.
func For(noise string, gate gating.Gate, most int) (*Plan, error) {
	of, err := gating.ParseShare(noise)
	if err != nil {
		return nil, err
	}
	p := &Plan{Most: most}
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
func (p *Plan) find(numbers []sequential.Number, alpha float64) (*Plan, error) {
	if len(numbers) == 0 {
		return nil, errors.New("no gated number is above 0 in all runs, so there is nothing to plan")
	}
	worse, fine := alpha/float64(len(numbers)+len(p.Zero)), 1-compare.Confidence
	p.Fixed = sequential.Fixed(worse, fine, numbers, compare.LeastPairs, mostFixed)
	p.Design = sequential.NewRule(worse, fine, compare.LeastPairs, p.Most).Plan(numbers)
	return p, nil
}

// halves divides runs into two sides that take turns.
func halves(runs []*brief.Run, unit gating.Unit) (old, new []*brief.Run) {
	for i, u := range compare.ByUnit(runs, unit) {
		if i%2 == 0 {
			old = append(old, u...)
		} else {
			new = append(new, u...)
		}
	}
	return old, new
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
func (p *Plan) Describe(w io.Writer) error {
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
func (p *Plan) takes(pairs float64) string {
	text := strings.TrimSuffix(fmt.Sprintf("%.1f", pairs), ".0") + " pairs"
	if p.Each == 0 {
		return text
	}
	return fmt.Sprintf("%s, about %.0f min", text, math.Ceil(pairs*p.Each.Minutes()))
}

// likely says by when a decision is likely.
func (p *Plan) likely(pairs int) string {
	if pairs == 0 {
		return fmt.Sprintf("undecided at the end with a chance above %.0f %%", 100*(1-sequential.Likely))
	}
	return fmt.Sprintf("%d or fewer with a chance of %.0f %%", pairs, 100*sequential.Likely)
}
