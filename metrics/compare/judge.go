package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// judge reaches the verdict. What is broken outright is a regression however few
// the runs are; for a change it takes enough of them, comparable and believable.
func (c *Comparison) judge(gate *Gate) {
	if len(c.Old) == 0 || len(c.New) == 0 {
		c.undecided("there are no runs on one side")
		return
	}
	c.failures(gate)
	c.bounds(gate)
	c.doubts(gate)
	if c.Verdict == "" || c.Verdict == Pass {
		c.changes(gate)
	}
	if c.Verdict == "" {
		c.Verdict = Pass
	}
}

func (c *Comparison) regressed(format string, args ...any) {
	if c.Verdict != Regressed {
		c.Reasons = nil
	}
	c.Verdict = Regressed
	c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...))
}

// undecided gives a reason against any verdict, unless there is one already.
func (c *Comparison) undecided(format string, args ...any) {
	if c.Verdict == Regressed {
		return
	}
	c.Verdict = NoVerdict
	c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...))
}

// failures looks at requests that failed, and at answers without a token.
func (c *Comparison) failures(gate *Gate) {
	for i, s := range c.Old {
		if why := broken(s, gate.Allowed); why != "" {
			defer c.undecided("old run %d: %s: it is nothing to compare with", i+1, why)
		}
	}
	for i, s := range c.New {
		if why := broken(s, gate.Allowed); why != "" {
			c.regressed("new run %d: %s", i+1, why)
		}
	}
}

// broken says why a run is one that no gate lets pass.
func broken(s *metrics.Summary, allowed float64) string {
	n := s.Completed + s.Failed
	switch {
	case s.Completed <= 0:
		return "no request completed"
	case s.Failed > 0 && float64(s.Failed) > allowed*float64(n):
		return fmt.Sprintf("%d of %d requests failed", s.Failed, n)
	case s.TotalOutput == 0:
		return "no request got a token"
	}
	return ""
}

// bounds holds the new medians against the absolute bounds.
func (c *Comparison) bounds(gate *Gate) {
	for i := range c.Rows {
		r := &c.Rows[i]
		limit := gate.limit(r.Name)
		if limit == nil {
			continue
		}
		if bound, beyond := limit.broken(r.New.Center); beyond {
			r.Regressed = true
			c.regressed("%s is %.2f %s, and %g is its bound", r.Name, r.New.Center, r.Unit, bound)
		}
	}
}

// doubts are what keeps a change from being judged.
func (c *Comparison) doubts(gate *Gate) {
	for _, l := range gate.Limits {
		if !slices.ContainsFunc(c.Rows, func(r Row) bool { return r.Name == l.Metric.Name }) {
			c.undecided("%s is not known of every run", l.Metric.Name)
		}
	}
	for _, d := range Differences(c.Old, c.New) {
		c.undecided("not comparable: %s", d)
	}
	for side, runs := range map[string][]*metrics.Summary{"old": c.Old, "new": c.New} {
		suspects := 0
		for _, s := range runs {
			if s.Interrupted {
				c.undecided("a run of the %s side was cut short", side)
			}
			if s.Trust != nil && s.Trust.Verdict == metrics.Suspect {
				suspects++
			}
		}
		if suspects > 0 {
			c.undecided("%d of %d runs of the %s side are SUSPECT", suspects, len(runs), side)
		}
	}
	if n := min(len(c.Old), len(c.New)); n < c.Needed && len(gate.Limits) > 0 {
		c.undecided("need at least %d runs a side to decide on %s, there are %d and %d", c.Needed, counted(len(gate.Limits), "metric"), len(c.Old), len(c.New))
	}
	slices.Sort(c.Reasons)
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// changes looks for what got worse.
func (c *Comparison) changes(gate *Gate) {
	for i := range c.Rows {
		r := &c.Rows[i]
		limit := gate.limit(r.Name)
		if limit == nil || !r.Differs || !limit.matters(r.Old.Center, r.Shift) {
			continue
		}
		r.Regressed = true
		c.regressed("%s went from %.2f to %.2f %s, %s (p=%.3f)", r.Name, r.Old.Center, r.New.Center, r.Unit, percent(r.Change), r.Adjusted)
	}
}

// percent is a share as a signed percentage.
func percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "?"
	}
	return strings.Replace(fmt.Sprintf("%+.1f %%", share*100), "-", "−", 1)
}
