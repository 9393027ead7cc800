package sessions

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/verdict"
)

const (
	// The sessions that break are the long ones: each turn is a chance to fail.
	brokenLimit = 1.0 // % of the sessions that were not cut
	// The sessions that are cut are the long ones, too.
	cutLimit = 10.0 // % of the sessions that began
	// If gaps vanish, people stop thinking, and the load is another one.
	gapsLimit = 5.0 // % of the gaps
	// Live answers of other lengths make prompts grow or shrink from turn to turn. What a chat
	// template may add is no drift.
	historyLimit = 10.0 // %: median distance from the planned prompt, or what the template may add
)

// CheckOrder finds turns that were sent before the answers that they wait for had come.
func CheckOrder(s *metrics.Summary) (verdict.Check, bool) {
	of := Of(s)
	if of == nil {
		return verdict.Check{}, false
	}
	n := of.Later.Disordered
	c := verdict.Check{Name: "order", Figure: float64(n), Unit: "turns", Remedy: "report this as an error of servebench"}
	c.Text = metrics.Counted(n, "turn") + " sent before an answer that it waits for had ended"
	return c, n > 0
}

// CheckBroken finds sessions with a turn that failed, so that others were never sent.
func CheckBroken(s *metrics.Summary) (verdict.Check, bool) {
	all := Of(s)
	if all == nil {
		return verdict.Check{}, false
	}
	n, of := all.BrokenAll(), all.BrokenAll()+all.Completed
	c := verdict.Check{Name: "broken sessions", Figure: verdict.Percent(n, of), Unit: "%", Limit: brokenLimit,
		Remedy: "read the errors"}
	c.Text = fmt.Sprintf("%d of %s broke, as a turn failed: job times leave these out", n, metrics.Counted(of, "session"))
	return c, n > 0
}

// CheckCut finds sessions that had not ended when the run had.
func CheckCut(s *metrics.Summary) (verdict.Check, bool) {
	all := Of(s)
	if all == nil {
		return verdict.Check{}, false
	}
	c := verdict.Check{Name: "cut sessions", Figure: verdict.Percent(all.Cut, all.Begun), Unit: "%", Limit: cutLimit,
		Remedy: "let it run longer"}
	c.Text = fmt.Sprintf("%d of %s were cut: job times favor short sessions", all.Cut,
		metrics.Counted(all.Begun, "session"))
	return c, all.Cut > 0
}

// CheckGaps finds gaps of a recording that the server's answers have eaten. Turns wait for their gaps
// unless the recording's times decide.
func CheckGaps(s *metrics.Summary) (verdict.Check, bool) {
	of := Of(s)
	if of == nil {
		return verdict.Check{}, false
	}
	later := &of.Later
	c := verdict.Check{Name: "gaps", Figure: verdict.Percent(later.Vanished, later.Gaps), Unit: "%", Limit: gapsLimit,
		Remedy: "use --trace-timing think, a lower --trace-speed, or a faster server"}
	c.Text = fmt.Sprintf("%d of %s vanished: the answers took so long that the next turns were due at once",
		later.Vanished, metrics.Counted(later.Gaps, "gap"))
	return c, later.Vanished > 0
}

// CheckHistory compares the prompts of later turns that the server counted with the dataset's.
func CheckHistory(s *metrics.Summary) (verdict.Check, bool) {
	of := Of(s)
	if of == nil || of.Later.InDrift.Len() == 0 {
		return verdict.Check{}, false
	}
	in, out := &of.Later.InDrift, &of.Later.OutDrift
	c := verdict.Check{Name: "history", Figure: in.Median(), Unit: "%", Limit: max(historyLimit, template(s)),
		Remedy: "have the server answer with the lengths asked for (--ignore-eos), or check the chat template"}
	c.Text = fmt.Sprintf("prompts of later turns are %s longer or shorter than planned in the median, p95 %s",
		verdict.ShowPercent(c.Figure), verdict.ShowPercent(in.Percentile(95)))
	if out.Len() > 0 && !c.Fine() {
		c.Text += fmt.Sprintf("; answers %s, p95 %s", verdict.ShowPercent(out.Median()),
			verdict.ShowPercent(out.Percentile(95)))
	}
	return c, true
}

// template is how much a chat template may add to the prompts of later turns, in percent of what they
// are without it. A turn has its own message, and two for each turn before it.
func template(s *metrics.Summary) float64 {
	if !s.Header.Config.Traits.Templated {
		return 0
	}
	added, rest := 0.0, 0.0
	for i, r := range Of(s).Rows {
		from, to := RowTurns(i)
		if i == 0 || r.Completed == 0 {
			continue
		}
		more := float64(r.Completed) * float64(prompts.TemplateChat+prompts.TemplateMessage*(from+to-1))
		added, rest = added+more, rest+max(0, float64(r.Prompt)-more)
	}
	return 100 * added / max(rest, 1)
}
