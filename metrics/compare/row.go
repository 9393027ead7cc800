package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/stats"
)

// A Row compares one number of the runs.
type Row struct {
	Number   metrics.Number
	Old, New benchmath.Summary // medians with their confidence intervals
	Effect   Effect            // by how much new runs differ
	Evidence Evidence          // for that

	// P is the probability that the runs differ by chance, two-sided. Adjusted is the
	// probability that they differ in that direction by chance, corrected for all gated
	// numbers. NaN where unknown; Adjusted also where the row is not gated.
	P, Adjusted float64
	Differs     bool // P, or Adjusted of a gated row, is at most the alpha of the gate

	Judgement Judgement
	Few       bool     // a run has too few samples beyond the percentile to rely on
	Remarks   []string // about this row only

	// FromContent says that a TTFT ends, or a TPOT begins, at the first content. vLLM's
	// may count an empty chunk as a token.
	FromContent bool

	slowing slowing
}

// Evidence is what the runs say about one number.
type Evidence struct {
	// Estimate is the difference between new and old on a scale on which worse is up: of the
	// logarithms; of shares of the old mean, if a number is not above 0; or of amounts, if that is not
	// above 0 either. Differences are those between the units of a pair, in the order of time, nil
	// for other designs.
	Estimate    stats.Estimate
	Differences []float64

	// Resampled says that Estimate, Differences and the Effect are of Distribution.Resampled. The Row's Old and New
	// never are.
	Resampled bool

	scale    stats.Scale
	levels   levels
	found    stats.Evidence
	shared   stats.Evidence // the same with the error that all loads share
	trend    stats.Estimate // that both sides share, from one unit to the next
	step     stats.Step     // the clearest within a side
	distance float64        // by how much new runs differ, on the scale
	bound    float64        // the Effect's Worst on the scale
}

// Judgement is what a gate makes of a row.
type Judgement struct {
	Gated    bool    // the gate limits its change
	Unjudged bool    // a latency of a server that did not keep up
	Margin   float64 // share by which it may get worse; 0 if it is not gated
	Finding  Finding // empty for none

	amount float64 // of the margin, in the unit of the metric
}

// due reports that the gate decides on the row.
func (j *Judgement) due() bool { return j.Gated && !j.Unjudged }

// A slowing is a slow change for the worse, from the first session of a baseline to the new runs.
type slowing struct {
	trend  stats.Agreement[stats.Estimate]
	chance float64 // of the trend, corrected for all gated numbers
	rest   float64 // of alpha, for a change that is not slow
}

// rounding is how far a number in words may be from its value because of the arithmetic.
const rounding = 1e-6

// worsening says by how much a number got worse, also at least.
func (r *Row) worsening() string {
	n := &r.Number
	from, to := n.Text(r.Effect.From), n.Text(r.Effect.To)
	if math.IsInf(r.Judgement.Margin, 1) {
		return fmt.Sprintf("%s went from %s to %s %s (margin %g %s; %s)",
			n.Name, from, to, n.Unit, r.Judgement.amount, n.Unit, r.chance())
	}
	least := ""
	if down := min(math.Floor(r.Effect.Least*1000+rounding)/10, math.MaxFloat64); down > 0 {
		least = ", by at least " + metrics.Readable(down, 1) + " %"
	}
	return fmt.Sprintf("%s %s%s (%s → %s %s; margin %.3g %%; %s)",
		n.Name, Percent(r.Effect.Share), least, from, to, n.Unit, r.Judgement.Margin*100, r.chance())
}

// chance is the p value as in a sentence.
func (r *Row) chance() string {
	if chance := r.Chance(); chance[0] == '<' {
		return "p" + chance
	}
	return "p=" + r.Chance()
}

// fromZero reports that the old numbers are 0, so that a change has no share.
func (r *Row) fromZero() bool { return !r.Evidence.scale.Logs && r.Evidence.scale.Whole == 0 }

// blurred reports that the runs do not rule out a change that the gate promises to detect. Finding
// nothing then proves nothing.
func (r *Row) blurred() bool {
	if r.fromZero() {
		return r.Evidence.bound > 2*r.Judgement.amount
	}
	return r.Effect.Worst > gating.Promise(r.Judgement.Margin)
}

// beyond reports whether the change is larger than the margin.
func (r *Row) beyond() bool {
	if math.IsInf(r.Judgement.Margin, 1) {
		return math.Abs(r.Evidence.distance) > r.Judgement.amount
	}
	return math.Abs(r.Effect.Share) > r.Judgement.Margin
}

// equivalent reports that the change is within the margin in both directions.
func (r *Row) equivalent() bool {
	least := r.Evidence.shared.Lower(r.Evidence.levels.fine)
	if r.fromZero() {
		return r.Evidence.bound <= r.Judgement.amount && least >= -r.Judgement.amount
	}
	return r.Effect.Worst <= r.Judgement.Margin && -r.forWorse(r.Evidence.scale.Share(least)) <= r.Judgement.Margin
}

// forWorse is the share by which a change is for the worse.
func (r *Row) forWorse(share float64) float64 {
	if r.Number.Better == metrics.Higher {
		return -share
	}
	return share
}

// blur says how much the runs vary and what would help. The width of the interval shrinks with the
// square root of the number of runs.
func (r *Row) blur(p *Point) string {
	promise := gating.Promise(r.Judgement.Margin)
	least := fmt.Sprintf("%.0f %%", promise*100)
	estimate := r.forWorse(r.Effect.Share)
	most := Percent(r.forWorse(r.Effect.Worst))
	switch reach := r.Effect.Worst - estimate; {
	case r.fromZero() && r.Judgement.amount > 0:
		return fmt.Sprintf("too noisy to rule out a change of %g %s: it may be as much as %s %s: take more %s, %s",
			2*r.Judgement.amount, r.Number.Unit, metrics.Readable(r.Evidence.bound, 2), r.Number.Unit, p.noun(2),
			p.steadier())
	case r.fromZero():
		return "the old runs have 0, so the change has no share: gate another number"
	case math.IsInf(r.Evidence.bound, 1):
		return fmt.Sprintf("too few %s to rule out a change of %s: take at least %d", p.noun(2), least,
			stats.Needed(1-Confidence, 1))
	case p.Design == Chain:
		return fmt.Sprintf("too noisy to rule out a change of %s: it may be as much as %s, since sessions differ: keep "+
			"more sessions, widen the margin, or run the old and the new server in turns", least, most)
	case 2*estimate > promise:
		return fmt.Sprintf("too noisy: the change of %s may be chance, or be as much as %s: take more %s, %s",
			Percent(r.Effect.Share), most, p.noun(2), p.steadier())
	default:
		ratio := reach / (promise - estimate)
		have, more := p.Units()
		return fmt.Sprintf("too noisy to rule out a change of %s: it may be as much as %s: take about %s %s, %s",
			least, most, metrics.Readable(math.Ceil(float64(min(have, more))*ratio*ratio), 0), p.aSide(2), p.steadier())
	}
}

// steadier says what else makes the runs of a point vary less. Runs with different seeds differ
// also on the quietest machine, except within a pair.
func (p *Point) steadier() string {
	switch {
	case p.Design == InPairs:
		return "or longer runs, or a quieter machine"
	case len(asked.Values(brief.Asked(slices.Concat(p.Old, p.New)), asked.Seed)) > 1:
		return "or longer ones: the runs have different seeds, so each has other prompts and arrival times; or a quieter " +
			"machine"
	default:
		return "or a quieter machine"
	}
}

// Percent writes a share as a signed percentage, or a question mark if unknown.
func Percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "?"
	}
	switch text := metrics.Readable(min(math.Abs(share*100), math.MaxFloat64), 1) + " %"; {
	case share < 0 && text != "0.0 %":
		return "−" + text
	default:
		return "+" + text
	}
}

// An Effect is by how much new runs differ. How it is estimated depends on the Design.
type Effect struct {
	// From is where the old runs are, as the Design estimates it, and To is where the change by Share
	// leads: the mean of the new units, except for InTurns, which takes medians. A mean is of logarithms
	// if all numbers are above 0.
	From, To float64

	// Share is the ratio of new to old numbers, minus one: −0.2 if new numbers are 20 % smaller. A number
	// cannot fall by more than all of it, so Share is at least −1, and so is a known Low. A change from 0
	// makes all three infinite.
	Share     float64
	Low, High float64 // with 95 % confidence; −Inf and +Inf where the runs are too few

	// Least and Worst are the shares by which new runs are worse at least, with the confidence of the
	// gate for all gated numbers together, and at most, with 95 % confidence for this one. If several
	// loads have equally many units, Worst is from how much the number varies in all of them. Least is
	// NaN if the row is not gated. Worst is infinite where unknown, and below 0 if new runs are better.
	Least, Worst float64
}

// Bounded says that the runs are enough for an interval.
func (e *Effect) Bounded() bool { return e.Low >= -1 }

// Interval is the interval in words, its ends written by percent, such as Percent. It is
// empty where the runs are too few, and for a change from 0.
func (e *Effect) Interval(percent func(share float64) string) string {
	if !e.Bounded() || math.IsInf(e.Low, 1) {
		return ""
	}
	return strings.TrimSuffix(percent(e.Low), " %") + " … " + percent(e.High)
}
