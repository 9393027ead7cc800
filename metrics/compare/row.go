package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
)

// A Row compares one number of the runs.
type Row struct {
	Metric
	Old, New benchmath.Summary // medians with their confidence intervals
	Effect   Effect            // by how much new runs differ

	// Estimate is the difference between new and old on a scale on which worse is up: of the
	// logarithms; of shares of the old mean, if a number is not above 0; or of amounts, if that is not
	// above 0 either. Differences are those between the units of a pair, in the order of time, nil
	// for other designs.
	Estimate    stats.Estimate
	Differences []float64

	// P is the probability that the runs differ by chance, two-sided. Adjusted is the
	// probability that they differ in that direction by chance, corrected for all gated
	// numbers. NaN where unknown; Adjusted also where the row is not gated.
	P, Adjusted float64

	Differs  bool     // P, or Adjusted of a gated row, is at most the alpha of the gate
	Gated    bool     // the gate limits its change
	Unjudged bool     // a latency of a server that did not keep up
	Margin   float64  // share by which it may get worse; 0 if it is not gated
	Finding  Finding  // empty for none
	Remarks  []string // about this row only

	// FromContent says that a TTFT ends, or a TPOT begins, at the first content. vLLM's
	// may count an empty chunk as a token.
	FromContent bool

	scale    scale
	evidence stats.Evidence
	trend    stats.Estimate // that both sides share, from one unit to the next
	amount   float64        // of the margin, in the unit of the metric
}

// worsening says by how much a number got worse. The change is not the ratio of the medians.
func (r *Row) worsening(limit *Limit) string {
	if math.IsInf(r.Margin, 1) {
		return fmt.Sprintf("%s went from %.2f to %.2f %s (medians; margin %g %s; p=%.3f)", r.Name, r.Old.Center, r.New.Center, r.Unit, limit.Absolute, r.Unit, r.Adjusted)
	}
	return fmt.Sprintf("%s %s (the median over all pairs of runs; medians %.2f → %.2f %s; margin %.3g %%; p=%.3f)",
		r.Name, Percent(r.Effect.Share), r.Old.Center, r.New.Center, r.Unit, r.Margin*100, r.Adjusted)
}

// visible is the smallest change that a gate with that margin promises to detect: twice the margin.
func visible(margin float64) float64 {
	if margin == 0 {
		margin = usualMargin
	}
	return 2 * margin
}

// blurred reports that the runs do not rule out a change that the gate promises to detect. Finding
// nothing then proves nothing.
func (r *Row) blurred(asked float64) bool {
	return r.worst() > visible(asked) || r.Margin > visible(asked)
}

// beyond reports whether the change is larger than the margin.
func (r *Row) beyond(limit *Limit) bool {
	if math.IsInf(r.Margin, 1) {
		return math.Abs(r.New.Center-r.Old.Center) > limit.Absolute
	}
	return math.Abs(r.Effect.Share) > r.Margin
}

// unclear is blurred for a change from 0, which has no share: the new median may be as large as
// twice what the gate allows.
func (r *Row) unclear(limit *Limit) bool {
	return math.IsInf(r.Margin, 1) && math.IsInf(r.worst(), 1) && r.New.Hi-r.Old.Center > 2*limit.Absolute
}

// forWorse is the share by which a change is for the worse.
func (r *Row) forWorse(share float64) float64 {
	if r.Higher {
		return -share
	}
	return share
}

// worst is the largest share by which the new runs may be worse.
func (r *Row) worst() float64 { return r.forWorse(r.end()) }

// blur says how much the runs vary and what would help. The width of the interval shrinks with the
// square root of the number of runs.
func (r *Row) blur(p *Point, asked float64) string {
	least := fmt.Sprintf("%.0f %%", visible(asked)*100)
	estimate := r.forWorse(r.Effect.Share)
	switch reach := r.worst() - estimate; {
	case r.Margin > visible(asked):
		return noisyBaseline(r.Margin, asked)
	case !r.Effect.Bounded():
		return fmt.Sprintf("too few runs to rule out a change of %s: take at least %s a side", least, metrics.Counted(stats.Needed((1-confidenceLevel)/2, 1), "run"))
	case math.IsInf(r.worst(), 1):
		return "an old run has 0, so the change has no upper bound: gate another number"
	case 2*estimate > visible(asked):
		return fmt.Sprintf("too noisy: the change of %s may be chance, or be as much as %s: take more runs, %s", Percent(r.Effect.Share), Percent(r.end()), p.steadier())
	default:
		ratio := reach / (visible(asked) - estimate)
		runs := math.Ceil(float64(min(len(p.Old), len(p.New))) * ratio * ratio)
		return fmt.Sprintf("too noisy to rule out a change of %s: it may be as much as %s: take about %.0f runs a side, %s",
			least, Percent(r.end()), runs, p.steadier())
	}
}

// steadier says what else makes the runs of a point vary less. Runs with different seeds differ
// also on the quietest machine.
func (p *Point) steadier() string {
	if len(propertyOf(slices.Concat(p.Old, p.New), seed)) > 1 {
		return "or longer ones: the runs have different seeds, so each has other prompts and arrival times; or a quieter machine"
	}
	return "or a quieter machine"
}

// Percent writes a share as a signed percentage, or a question mark if unknown.
func Percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "?"
	}
	text := fmt.Sprintf("%+.1f %%", share*100)
	if text == "-0.0 %" {
		return "+0.0 %"
	}
	return strings.Replace(text, "-", "−", 1)
}
