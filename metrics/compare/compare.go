package compare

import (
	"fmt"
	"math"

	"golang.org/x/perf/benchmath"

	"github.com/servebench/servebench/metrics"
)

// A Verdict is what a gate makes of a comparison.
type Verdict string

const (
	Pass      Verdict = "PASS"
	Regressed Verdict = "REGRESSED"
	NoVerdict Verdict = "NO VERDICT"
)

// confidence is that of the intervals shown.
const confidence = 0.95

// A Comparison is what came of comparing runs.
type Comparison struct {
	Old, New []*metrics.Summary
	Rows     []Row
	Needed   int      // runs a side that the gate needs at least
	Verdict  Verdict  // by the gate
	Reasons  []string // for the verdict; none for Pass
	Notes    []string // what a reader should know besides
}

// A Row compares one number of the runs.
type Row struct {
	Metric
	Old, New  benchmath.Summary // medians with their confidence intervals
	Change    float64           // of the median, as a share of the old one; NaN where that is 0
	Shift     float64           // Hodges–Lehmann estimate of the change, as a share
	Low, High float64           // its confidence interval; infinite where runs are too few
	P         float64           // that the runs differ by chance, two-sided; NaN where that cannot be said
	Adjusted  float64           // that new runs of a gated metric are worse by chance, with regard to all the others; NaN where it is not gated
	Differs   bool              // P is at most the alpha of the gate
	Worse     bool              // the new median is worse than the old one
	Gated     bool
	Regressed bool     // gated, told from chance, and worse by more than the margin, or beyond an absolute bound
	Remarks   []string // on the row alone
}

// Compare compares the runs of two sides. The summaries stay the caller's.
func Compare(old, new []*metrics.Summary, gate Gate) *Comparison {
	c := &Comparison{Old: old, New: new, Needed: RunsNeeded(gate.alpha(), len(gate.Limits))}
	for _, m := range Metrics {
		if row, ok := c.row(m, &gate); ok {
			c.Rows = append(c.Rows, row)
		}
	}
	c.adjust(gate.alpha())
	c.judge(&gate)
	return c
}

// row compares one metric, if both sides have it.
func (c *Comparison) row(m Metric, gate *Gate) (Row, bool) {
	old, new := m.values(c.Old), m.values(c.New)
	limit := gate.limit(m.Name)
	if old == nil || new == nil {
		return Row{}, false
	}
	r := Row{Metric: m, Gated: limit != nil, P: math.NaN(), Shift: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	thresholds := benchmath.DefaultThresholds
	r.Old = benchmath.AssumeNothing.Summary(benchmath.NewSample(old, &thresholds), confidence)
	r.New = benchmath.AssumeNothing.Summary(benchmath.NewSample(new, &thresholds), confidence)
	r.Change = r.New.Center/r.Old.Center - 1
	r.Worse = r.New.Center > r.Old.Center != m.Higher && r.New.Center != r.Old.Center
	if len(old) > 1 && len(new) > 1 {
		r.P = mannWhitney(old, new)
	}
	if positive(old) && positive(new) {
		r.Shift, r.Low, r.High = shift(old, new, confidence)
	}
	r.remarkTail(c)
	return r, true
}

func positive(values []float64) bool {
	for _, v := range values {
		if !(v > 0) {
			return false
		}
	}
	return true
}

// remarkTail says where a percentile stands on too few values to be more than the
// largest of them.
func (r *Row) remarkTail(c *Comparison) {
	if r.percentile <= 50 {
		return
	}
	least := math.Inf(1)
	for _, s := range append(c.Old[:len(c.Old):len(c.Old)], c.New...) {
		size := metrics.TailSize{Metric: r.latency, Percentile: r.percentile, N: s.Metric(r.latency).Len()}
		least = min(least, size.Beyond())
	}
	if least < 10 {
		r.Remarks = append(r.Remarks, fmt.Sprintf("only %.1f values of a run lie beyond it", least))
	}
}

// adjust makes the gated p values bear that they are several.
func (c *Comparison) adjust(alpha float64) {
	var p []float64
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Gated && !math.IsNaN(r.P) {
			p = append(p, r.worse())
		}
	}
	adjusted := holm(p)
	for i := range c.Rows {
		r := &c.Rows[i]
		r.Adjusted = math.NaN()
		if r.Gated && !math.IsNaN(r.P) {
			r.Adjusted, adjusted = adjusted[0], adjusted[1:]
		}
		r.Differs = r.P <= alpha
	}
}

// worse is the p value of the one-sided test that new runs are not worse.
func (r *Row) worse() float64 {
	if r.Worse {
		return r.P / 2
	}
	return 1 - r.P/2
}
