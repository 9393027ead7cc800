// Package compare says whether one set of runs is worse than another.
//
// The unit of evidence is a start of a server, or a session of a baseline: its runs share its process
// or its day, and the requests of a run share its fate, so one start a side says nothing about chance,
// however many requests it has. A brief.Run is what a comparison needs to know about one run. A Comparison
// has a Point for each load that both sides had, with a Row for each number, and Where a latency went.
// A gate says which numbers decide, which changes matter, and which values are allowed at all.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/sequential"
	"github.com/servebench/servebench/metrics/stats"
)

// A Verdict is a gate's conclusion about a comparison.
type Verdict string

const (
	Pass      Verdict = "PASS"
	Regressed Verdict = "REGRESSED"
	NoVerdict Verdict = "NO VERDICT"
	Futile    Verdict = "FUTILE" // of a sequential sweep: more pairs would hardly bring a verdict
)

// A Finding is a gate's conclusion about one gated number.
type Finding string

const (
	Worse   Finding = "REGRESSED" // beyond chance, and worse by more than the margin
	Better  Finding = "IMPROVED"  // beyond chance, and better by more than the margin
	Blurred Finding = "TOO NOISY" // neither, and it may be worse by more than twice the margin

	// Equivalent is within the margin in both directions: two one-sided tests, each at 5 % (D.
	// Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for
	// assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
	// Biopharmaceutics 15 (1987)).
	Equivalent Finding = "EQUIVALENT"
)

// Confidence is the confidence of all intervals and of all one-sided bounds.
const Confidence = 0.95

// A Comparison is the result of comparing runs.
type Comparison struct {
	Points  []Point     // one, unless both sides ran the same several loads
	Alpha   float64     // of the gate
	Unit    gating.Unit // what counts as one piece of evidence
	Needed  int         // least units a side that the gate needs; 0 if it gates no change
	Doubted bool        // some runs cannot be judged, with any number of others
	Judged  bool        // changes were judged; else there was too little data
	Verdict Verdict
	Gate    string // the text of the gate, as a gate file; {} for the usual one
	// Excludes is the share by which no gated number is worse, with 95 % confidence for all of them
	// together: the largest Worst of the rows, since the worst number is above it only if its own
	// bound fails (R. Berger, "Multiparameter Hypothesis Testing and Acceptance Sampling",
	// Technometrics 24 (1982)). The bounds of several loads hold if the loads are about equally noisy:
	// see stats.SharedErrors. NaN unless changes were judged, and for a change from 0.
	Excludes float64
	Whole    bool     // texts show each row; else the Notable ones
	Reasons  []string // for the verdict; none for Pass
	Notes    []string // what else a reader should know

	rule    *sequential.Rule // of the sequential sweep that made the runs; nil for other runs
	leftOut int              // disturbed pairs, each try for itself
	spent   int              // pairs that were disturbed in each of their Tries
	quiet   string           // what would disturb fewer pairs; empty if none is left out
}

// A Point compares the runs under one load.
type Point struct {
	Load []metrics.KV // what distinguishes it from the others; none if it is the only one
	Sides
	Design Design
	Rows   []Row
	Better []string // improvements that are not in Rows
	Where  []Where  // the changes of mean latencies by span, if both sides know the spans

	arrangement
}

// Sides are the runs that are compared with each other.
type Sides struct{ Old, New []*brief.Run }

// Name is the load in words.
func (p *Point) Name() string {
	var words []string
	for _, kv := range p.Load {
		words = append(words, kv.Key+" "+kv.Value)
	}
	return strings.Join(words, ", ")
}

// Compare compares the runs of two sides.
func Compare(old, new []*brief.Run, gate gating.Gate) *Comparison {
	text := gate.Text()
	gate = gate.Fitted(func(name string) bool {
		return slices.ContainsFunc(slices.Concat(old, new), func(r *brief.Run) bool {
			_, known := r.Numbers[name]
			return known
		})
	})
	c := &Comparison{Gate: text, Alpha: gate.Level(), Unit: gate.Counted(), Excludes: math.NaN()}
	old, new = c.undisturbed(old, new, &gate)
	c.Points = split(old, new)
	tests := len(gate.Limits) * len(c.Points)
	c.rule = ruleOf(slices.Concat(old, new), c.Alpha, tests)
	for i := range c.Points {
		p := &c.Points[i]
		p.arrange(&gate)
		if p.Design == Chain {
			c.Unit = gating.PerSession
		}
		c.look(p, tests)
		c.Needed = max(c.Needed, p.Design.Needs(&gate, len(c.Points)))
		p.Where = p.spans()
		for _, m := range append(gate.Numbers(), p.adapterRows(&gate)...) {
			if row, ok := p.row(m, &gate); ok {
				p.Rows = append(p.Rows, row)
			}
		}
	}
	c.share()
	c.adjust(tests)
	(&judge{Comparison: c, gate: &gate}).decide(old, new)
	return c
}

// row compares one metric, if both sides have it.
func (p *Point) row(m metrics.Number, gate *gating.Gate) (Row, bool) {
	old, new := p.values(&m, p.Old), p.values(&m, p.New)
	if old == nil || new == nil {
		return Row{}, false
	}
	r := Row{Number: m, P: math.NaN(), Adjusted: math.NaN(), FromContent: p.fromContent(&m),
		Effect: Effect{Least: math.NaN()}, slowing: slowing{rest: 1, chance: 1}}
	r.Old, r.New = stats.Median(old), stats.Median(new)
	r.Evidence.levels = p.levels
	p.compare(&r, old, new)
	if units, more := p.Units(); min(units, more) > 1 || p.Design == Chain {
		r.P = min(1, 2*r.Evidence.found.Above(0), 2*r.Evidence.found.Below(0))
	}
	r.Differs = r.P <= gate.Level()
	if limit := gate.Limit(m.Name); limit != nil {
		r.Judgement.Gated = true
		r.Judgement.Margin, r.Judgement.amount = limit.Share(r.Effect.From), limit.Absolute
	}
	if r.Judgement.Unjudged = m.Latency != "" && p.anyOverloaded(); r.Judgement.Unjudged {
		r.Remarks = append(r.Remarks, "not judged: a server did not keep up, so it depends on how long the runs were")
	}
	r.remarkTail(p, gate)
	return r, true
}

// Notable are the rows to show first: the gated ones, and those that differ. They are all rows if the
// runs are too few to find a difference in any.
func (p *Point) Notable() (rows []*Row) {
	var all []*Row
	tested := false
	for i := range p.Rows {
		r := &p.Rows[i]
		all, tested = append(all, r), tested || !math.IsNaN(r.P)
		if j := &r.Judgement; j.Gated || j.Finding != "" || r.Differs && !r.Few && !j.Unjudged {
			rows = append(rows, r)
		}
	}
	if !tested {
		return all
	}
	return rows
}

// worse reports whether the new runs are worse, by chance or not.
func (r *Row) worse() bool {
	return r.Effect.Share != 0 && r.Effect.Share > 0 != (r.Number.Better == metrics.Higher)
}

// Chance is the p value in words: Adjusted for a gated row; empty if unknown.
func (r *Row) Chance() string {
	p := r.P
	if r.Judgement.Gated {
		p = r.Adjusted
	}
	switch {
	case math.IsNaN(p):
		return ""
	case p < 0.001:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// remarkTail says if a percentile rests on too few samples.
func (r *Row) remarkTail(p *Point, gate *gating.Gate) {
	if least := fewest(&r.Number, p.Old, p.New); least < stats.MinBeyond {
		r.Few = !r.Judgement.Gated || !slices.Contains(gate.Despite, "suspect")
		r.Remarks = append(r.Remarks, fmt.Sprintf("a run has %s %s it, too few to rely on", fewSamples(least),
			side(&r.Number)))
	}
}

// adjust corrects the p values of the gated numbers for their count. "It got worse" and "it got
// better" are two questions, each with its own correction.
func (c *Comparison) adjust(tests int) {
	var gated []*Row
	var worse, better, slow []float64
	for i := range c.Points {
		for j := range c.Points[i].Rows {
			if r := &c.Points[i].Rows[j]; r.Judgement.due() && !math.IsNaN(r.P) {
				gated, worse, better = append(gated, r), append(worse, r.Evidence.found.Above(0)/r.slowing.rest),
					append(better, r.Evidence.found.Below(0))
				slow = append(slow, r.slowing.chance)
			}
		}
	}
	slow = stats.Holm(slow, tests)
	if c.rule == nil {
		worse, better = stats.Holm(worse, tests), stats.Holm(better, tests)
	} else {
		c.forLooks(gated, worse)
		c.forLooks(gated, better)
	}
	for i, r := range gated {
		r.Adjusted = better[i]
		if r.worse() {
			r.Adjusted = worse[i]
		}
		r.slowing.chance = slow[i]
		r.Effect.Least = max(0, r.forWorse(r.Evidence.scale.Share(r.Evidence.found.Lower(r.Evidence.levels.worse))))
		r.Differs = r.Adjusted <= c.Alpha
	}
}
