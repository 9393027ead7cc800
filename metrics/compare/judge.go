package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/stats"
)

// The judge of a comparison reaches its verdict. A server that is broken is a regression, with any number of runs. A
// change needs enough runs that can be compared and trusted.
type judge struct {
	*Comparison
	gate *gating.Gate
	reasons
}

func (j *judge) decide(old, new []*brief.Run) {
	if len(j.Points) == 0 {
		j.doubt(nil, "there are no runs")
	}
	if what := brief.Twice(old, new); what != "" {
		j.doubt(nil, "%s", what)
	}
	for _, side := range mixed(old, new, j.gate.Despite) {
		for _, v := range side.by {
			j.doubt(nil, "the %s runs are not alike: %s is %s", side.name, v.property, strings.Join(v.values, ", "))
		}
	}
	for i := range j.Points {
		p := &j.Points[i]
		if len(p.Old) == 0 || len(p.New) == 0 {
			j.doubt(p, "one side has no runs")
			continue
		}
		j.failures(p)
		j.doubts(p)
		j.drifts(p)
		j.steps(p)
		j.bounds(p)
		(&remarks{p: p, reasons: &j.reasons, gate: j.gate, alpha: j.Alpha, loads: len(j.Points)}).all()
	}
	j.Doubted = len(j.open) > 0
	j.tooFew()
	// Changes between doubtful runs are not judged.
	j.Judged = len(j.open) == 0
	if j.Judged {
		for i := range j.Points {
			j.changes(&j.Points[i])
			j.explain(&j.Points[i])
		}
	}
	// Overloads are judged in any case.
	for i := range j.Points {
		j.overloads(&j.Points[i])
	}
	switch {
	case len(j.bad) > 0:
		j.Verdict, j.Reasons = Regressed, j.bad
		j.notes = append(j.notes, j.open...)
	case len(j.open) > 0:
		j.Verdict, j.Reasons = NoVerdict, j.open
	default:
		j.Verdict = Pass
	}
	j.Notes = append(j.Notes, j.notes...)
	if j.Judged {
		j.Excludes = j.excludes()
	}
}

// excludes is the largest Worst of the judged rows, NaN without one, and if one is a change from 0.
func (c *Comparison) excludes() float64 {
	most := math.NaN()
	for i := range c.Points {
		for _, r := range c.Points[i].Rows {
			switch {
			case !r.Judgement.due():
			case r.fromZero() && r.Evidence.bound != 0:
				return math.NaN()
			case !(r.Effect.Worst <= most):
				most = r.Effect.Worst
			}
		}
	}
	return max(0, most)
}

// Excluded says what a pass excludes.
func (c *Comparison) Excluded() string {
	switch most := math.Ceil(c.Excludes*1000-rounding) / 10; {
	case math.IsNaN(most):
		return "no gated number got worse by more than its margin"
	case most <= 0:
		return "no gated number is worse (95 %, family-wise)"
	default:
		return fmt.Sprintf("no gated number is worse by more than %s %% (95 %%, family-wise)", metrics.Readable(most, 1))
	}
}

// failures looks at failed requests and at answers without a token. New runs that fail
// no more than the old runs are not worse, but never pass. A run that was cut decides nothing.
func (j *judge) failures(p *Point) {
	before := 0.0
	for i, r := range p.Old {
		if why := r.Fault(j.gate.Allowed); why != "" && !r.Source.Cut {
			j.doubt(p, "old run %d: %s, so there is nothing to compare with", i+1, why)
			before = max(before, r.Failing())
		}
	}
	for i, r := range p.New {
		switch why := r.Fault(j.gate.Allowed); {
		case why == "", r.Source.Cut: // doubtRuns says what is missing
		case before > 0 && r.Failing() <= before:
			j.doubt(p, "new run %d: %s", i+1, why)
		default:
			j.regress(p, "new run %d: %s", i+1, why)
		}
	}
}

// doubts finds the reasons not to judge a change.
func (j *judge) doubts(p *Point) {
	for _, l := range j.gate.Limits {
		if p.find(l.Number.Name) == nil {
			j.doubt(p, "some runs do not have %s", l.Number.Name)
			if strings.HasSuffix(l.Number.Name, "_slowdown") {
				j.advise("a slowdown takes runs of the target alone in the same repeat: --solo-first or --pairs")
			}
		}
		j.few(p, &l.Number, p.Old, p.New)
	}
	if found := asked.Differences(brief.Asked(p.Old), brief.Asked(p.New), j.gate.Despite); found != nil {
		for _, d := range found {
			j.doubt(p, "not comparable: %s", d)
		}
		j.advise("--despite NAME compares runs that differ in NAME, such as --despite %s", strings.Fields(found[0])[0])
	}
	j.unlikeSides(p)
	j.doubtRuns(p, "old", p.Old)
	j.doubtRuns(p, "new", p.New)
}

// few reports that a gated percentile rests on too few samples of a run, or nobody knows on how
// many.
func (j *judge) few(p *Point, m *metrics.Number, sides ...[]*brief.Run) bool {
	least := fewest(m, sides...)
	if least >= stats.MinBeyond || j.gate.Allows("suspect") {
		return false
	}
	only := fmt.Sprintf("a run has %s %s it, and a gate needs %d", fewSamples(least), side(m), stats.MinBeyond)
	if math.IsNaN(least) {
		only = "a run does not say how many samples it has"
	}
	other := ""
	switch {
	case m.Percentile > 50:
		other = ", or gate a lower percentile"
	case m.Percentile < 50:
		other = ", or gate a higher percentile"
	}
	j.doubt(p, "%s: %s: run at least %d requests%s", m.Name, only, stats.ValuesNeeded(m.Percentile), other)
	return true
}

// doubtRuns says which runs of a side cannot be trusted or compared.
func (j *judge) doubtRuns(p *Point, side string, runs []*brief.Run) {
	var whys []string
	numbers := map[string][]string{} // of the runs, by what is wrong with them
	for i, r := range runs {
		found := r.Lacks()
		if doubts := p.doubts(r); doubts != nil && !j.gate.Allows("suspect") {
			j.advise("SUSPECT runs: %s, and repeat them; --despite suspect judges them as they are",
				cmp.Or(r.Source.Remedy, "find out why"))
			found = append(found, doubts...)
		}
		for _, why := range found {
			if numbers[why] == nil {
				whys = append(whys, why)
			}
			numbers[why] = append(numbers[why], strconv.Itoa(i+1))
		}
	}
	for _, why := range whys {
		j.doubt(p, "%s: %s", which(side, numbers[why], len(runs)), why)
	}
}

// which names some of a side's runs by their numbers, from 1.
func which(side string, numbers []string, of int) string {
	switch n := len(numbers); {
	case n == 1:
		return side + " run " + numbers[0]
	case n == of:
		return fmt.Sprintf("all %d %s runs", of, side)
	default:
		return side + " runs " + strings.Join(numbers, ", ")
	}
}

// bounds compares the new medians with the absolute bounds, unless the new runs are
// doubtful.
func (j *judge) bounds(p *Point) {
	doubtful := slices.ContainsFunc(p.New, func(r *brief.Run) bool {
		return len(r.Gaps) > 0 || len(p.doubts(r)) > 0 && !j.gate.Allows("suspect")
	})
	for _, b := range j.gate.Bounds {
		values := p.values(&b.Number, p.New)
		if values == nil {
			j.doubt(p, "some new runs do not have %s", b.Number.Name)
			continue
		}
		center, broken := stats.Median(values).Center, ""
		switch {
		case doubtful, j.few(p, &b.Number, p.New):
			continue
		case center > b.Most:
			broken = fmt.Sprintf("above its ceiling of %g", b.Most)
		case center < b.Least:
			broken = fmt.Sprintf("below its floor of %g", b.Least)
		default:
			continue
		}
		j.regress(p, "%s is %s %s, %s", b.Number.Name, b.Number.Text(center), b.Number.Unit, broken)
		if r := p.find(b.Number.Name); r != nil {
			r.Judgement.Finding = Worse
		}
	}
}

// find is the row of a metric, nil without one.
func (p *Point) find(name string) *Row {
	i := slices.IndexFunc(p.Rows, func(r Row) bool { return r.Number.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Rows[i]
}

// fewInOrder reports that one side came after the other, with so few units that a change of the machine between
// them may be why the sides differ. A verdict on these sessions or processes only does not say why.
func (j *judge) fewInOrder(p *Point) bool {
	old, new := p.Units()
	return p.Design == OneAfterOther && min(old, new) < worseInOrder && j.Scope() == ""
}

// changes finds numbers that got worse, and numbers that may have got worse unseen.
func (j *judge) changes(p *Point) {
	for i := range p.Rows {
		r := &p.Rows[i]
		if !r.Judgement.due() {
			continue
		}
		switch beyond := r.beyond(); {
		case r.Differs && beyond && r.worse() && j.fewInOrder(p):
			r.Judgement.Finding = Blurred
			j.doubt(p, "%s, or the machine changed between the sides: with one side after the other, fewer than %d %s do not "+
				"tell; run the arms in turns, as servebench sweep does",
				r.worsening(), worseInOrder, p.aSide(worseInOrder))
		case r.Differs && beyond && r.worse():
			r.Judgement.Finding = Worse
			j.regress(p, "%s", r.worsening())
		case j.slower(p, r):
			r.Judgement.Finding = Worse
		case r.Judgement.Finding != "": // by a bound
		case r.Differs && beyond:
			r.Judgement.Finding = Better
		case r.blurred():
			r.Judgement.Finding = Blurred
			j.doubt(p, "%s: %s", r.Number.Name, r.blur(p))
		case r.equivalent():
			r.Judgement.Finding = Equivalent
		}
	}
}

// unlikeSides doubts a point if one side has result blocks, and the other side other loads.
func (j *judge) unlikeSides(p *Point) {
	old, new := p.Old[0], p.New[0]
	if (old.IsBlock() || new.IsBlock()) && !old.SameLoad(new) {
		j.doubt(p, "not comparable: an old run has %s, and a new run has %s", old.Load(), new.Load())
	}
}
