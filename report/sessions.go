package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// Sessions writes how many sessions completed, their job times, what they found in the server's
// prefix cache, and the turns by their number, in lines of 80 characters, or of 120 if extended. It
// writes nothing without sessions of several turns.
func Sessions(w io.Writer, s *metrics.Summary, extended bool) error {
	of := sessions.Of(s)
	if of == nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteByte('\n')
	line := func(label, text string) {
		if text != "" {
			b.WriteString(label)
			screen.Wrap(&b, len(label), screenWidth, text)
		}
	}
	line("Sessions:", outcomes(s))
	line("Job time:", jobTime(of, tailOf(s)))
	line("   of it:", strings.Join(jobParts(of), ", "))
	line("Prefix cache:", strings.Join(reuse(of), ", "))
	b.WriteByte('\n')
	if marked := turnTable(&b, s, extended); marked {
		fmt.Fprintln(&b, layout.Few, layout.FewMeans())
	}
	_, err := w.Write(b.Bytes())
	return err
}

// screenWidth is the width of a usual terminal in characters.
const screenWidth = 80

// outcomes are how many sessions there were of each kind, how often one completed, and how many were
// in progress at once.
func outcomes(s *metrics.Summary) string {
	of := sessions.Of(s)
	counts := []string{fmt.Sprintf("%d of %d completed", of.Completed, of.Begun)}
	if n := of.BrokenAll(); n > 0 {
		counts = append(counts, fmt.Sprintf("%d broken", n))
	}
	if of.Cut > 0 {
		counts = append(counts, fmt.Sprintf("%d cut", of.Cut))
	}
	if n := sessions.Scheduled(s) - of.Begun - of.Earlier; s.Ending.Interrupted && n > 0 {
		counts = append(counts, fmt.Sprintf("%d not begun", n))
	}
	if of.Unsent > 0 {
		counts = append(counts, metrics.Counted(of.Unsent, "turn")+" not sent")
	}
	rate := layout.Decimal(of.Throughput) + " sessions/s"
	if !math.IsNaN(of.Goodput) {
		rate += ", " + layout.Decimal(of.Goodput) + " good"
	}
	return fmt.Sprintf("%s; %s; in progress %s, at most %d", strings.Join(counts, ", "), rate,
		layout.Decimal(of.MeanInFlight), of.PeakInFlight)
}

// tailOf is the highest reported percentile, or 99.
func tailOf(s *metrics.Summary) float64 {
	if p := highest(s); p > 0 {
		return p
	}
	return 99
}

// marking returns what writes the p-th percentile of a latency, "" if it has none. It marks one that
// rests on too few samples, and notes that.
func marking(p float64, marked *bool) func(*metrics.Distribution) string {
	return func(d *metrics.Distribution) string {
		if !present(d) {
			return ""
		}
		text := layout.Decimal(d.Percentile(p))
		if d.Len() > 0 && (stats.TailSize{Percentile: p, N: d.Len()}).Few() {
			text += layout.Few
			*marked = true
		}
		return text
	}
}

// middle is the median of a latency, "" if it has none.
func middle(d *metrics.Distribution) string {
	if !present(d) {
		return ""
	}
	return layout.Decimal(d.Median())
}

// jobTime is the job time in words; "" without completed sessions. If sessions were cut, a second
// median counts what is known of them.
func jobTime(of *sessions.Sessions, tail float64) string {
	if !present(&of.JobTime) {
		return ""
	}
	with := ""
	if of.Cut > 0 && of.JobTime.Len() > 0 {
		with = fmt.Sprintf(" (%s with cut sessions)", longer(of.JobPercentile(50)))
	}
	return fmt.Sprintf("mean %s s, median %s s%s, P%s %s s", inSeconds(of.JobTime.Mean()), inSeconds(of.JobTime.Median()),
		with,
		metrics.FormatPercentile(tail), inSeconds(of.JobTime.Percentile(tail)))
}

// present reports that d has values, or statistics that were read.
func present(d *metrics.Distribution) bool { return d.Len() > 0 || d.Quoted != nil }

// longer is an estimated job time, which may be beyond all that was seen.
func longer(ms float64) string {
	if math.IsInf(ms, 1) {
		return "longer than the run"
	}
	return inSeconds(ms) + " s"
}

func inSeconds(ms float64) string { return layout.Decimal(ms / 1000) }

// jobParts are the four parts of the mean job time in percent, without what took no time. What a part
// includes is behind it.
func jobParts(of *sessions.Sessions) (parts []string) {
	all := of.Parts
	share := func(took time.Duration) float64 { return 100 * took.Seconds() / max(all.Total().Seconds(), 1e-9) }
	for _, part := range []struct {
		name, more string
		took, some time.Duration
	}{
		{"server", "prefill", all.Server(), all.Prefill}, {"gaps", "tools", all.Gaps(), all.Tool},
		{"queue", "session slots", all.Queue(), all.SessionSlots}, {"lag", "", all.Lag, 0},
	} {
		if share(part.took) < leastShare {
			continue
		}
		text := fmt.Sprintf("%s %.1f %%", part.name, share(part.took))
		if share(part.some) >= leastShare {
			text += fmt.Sprintf(" (%s %.1f %%)", part.more, share(part.some))
		}
		parts = append(parts, text)
	}
	return parts
}

// leastShare is the least share in percent that is not rounded to 0.
const leastShare = 0.05

// reuse says what the server had in its prefix cache, as far as it is known, and how many tokens the
// prompts of the sessions in progress have together: a smaller cache forgets some of them.
func reuse(of *sessions.Sessions) (parts []string) {
	use := of.Cache
	cached, reused := use.CachedShare(), use.ReusedShare()
	if !math.IsNaN(cached) {
		parts = append(parts, fmt.Sprintf("found %.1f %% of %d prompt tokens", 100*cached, use.Known().Prompt))
	}
	switch most := use.ReusableShare(); {
	case reused > 1.0005: // the cache has tokens of a chat template, or of earlier runs
		parts = append(parts, fmt.Sprintf("all of the reusable ones and %.1f %% more", 100*(reused-1)))
	case !math.IsNaN(reused):
		parts = append(parts, fmt.Sprintf("%.1f %% of the reusable ones", 100*reused))
	case !math.IsNaN(most):
		parts = append(parts, fmt.Sprintf("%.1f %% could be reused", 100*most))
	}
	prompt, turns := 0, 0
	for i := range of.Rows {
		prompt, turns = prompt+of.Rows[i].Prompt, turns+of.Rows[i].Completed
	}
	if held := of.MeanInFlight * float64(prompt) / float64(max(turns, 1)); held >= 1 {
		parts = append(parts, fmt.Sprintf("about %.0f in the prompts of the sessions in progress", held))
	}
	return parts
}

// A turnColumn is one number of the turns of a row.
type turnColumn struct {
	head     string
	of       func(*sessions.TurnRow) string
	extended bool // it is shown only then
}

// turnTable writes a line for each row of turns. It reports whether a percentile rests on too few
// samples.
func turnTable(b *bytes.Buffer, s *metrics.Summary, extended bool) (marked bool) {
	p := tailOf(s)
	tail, beyond := "P"+metrics.FormatPercentile(p), marking(p, &marked)
	columns := []turnColumn{
		{head: "|sent", of: func(r *sessions.TurnRow) string { return vllm.Count(r.Sent) }},
		{head: "prompt|tokens", of: func(r *sessions.TurnRow) string { return fmt.Sprintf("%.0f", r.MeanPrompt()) }},
		{head: "cached|%", of: func(r *sessions.TurnRow) string { return inPercent(r.Cache.CachedShare()) }},
		{head: "reusable|%", of: func(r *sessions.TurnRow) string { return inPercent(r.Cache.ReusableShare()) },
			extended: true},
		{head: "TTFT ms|median", of: func(r *sessions.TurnRow) string { return middle(&r.TTFT) }},
		{head: "|" + tail, of: func(r *sessions.TurnRow) string { return beyond(&r.TTFT) }},
		{head: "TPOT ms|median", of: func(r *sessions.TurnRow) string { return middle(&r.TPOT) }},
		{head: "|" + tail, of: func(r *sessions.TurnRow) string { return beyond(&r.TPOT) }, extended: true},
		{head: "E2EL ms|median", of: func(r *sessions.TurnRow) string { return middle(&r.E2EL) }},
		{head: "|" + tail, of: func(r *sessions.TurnRow) string { return beyond(&r.E2EL) }},
		{head: "from due|" + tail, of: func(r *sessions.TurnRow) string { return beyond(&r.ScheduledE2EL) }, extended: true},
	}
	columns = slices.DeleteFunc(columns, func(c turnColumn) bool { return c.extended && !extended })
	heads := []string{"|turn"}
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	rows := sessions.Of(s).Rows
	g := layout.TwoLined(1, heads...)
	for i := range rows {
		cells := []string{sessions.TurnNumbers(i)}
		for _, c := range columns {
			cells = append(cells, c.of(&rows[i]))
		}
		g.Add(cells...)
	}
	g.Text(b)
	return marked
}

// inPercent is a share in percent, "" if it is unknown.
func inPercent(share float64) string {
	if math.IsNaN(share) {
		return ""
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// sessionRows are the rows of the extended result about sessions.
func sessionRows(s *metrics.Summary) (rows []vllm.Row) {
	of := sessions.Of(s)
	if of == nil {
		return nil
	}
	add := func(label, value string) {
		rows = append(rows, vllm.Row{Label: label + ":", Value: cmp.Or(value, "?")})
	}
	count := func(label string, n int) {
		if n > 0 {
			add(label, vllm.Count(n))
		}
	}
	count("Begun", of.Begun)
	count("Completed", of.Completed)
	for _, class := range metrics.ByCount(of.Broken) {
		count("Broken, "+string(class), of.Broken[class])
	}
	count("Cut", of.Cut)
	count("Begun in the warm-up", of.Earlier)
	count("Turns sent", of.Sent)
	count("Turns not sent", of.Unsent)
	if present(&of.JobTime) {
		for _, part := range []struct {
			label string
			took  time.Duration
		}{{"Mean prefill of a session", of.MeanParts().Prefill}, {"Mean decode", of.MeanParts().Decode},
			{"Mean gaps of persons", of.MeanParts().Think},
			{"Mean gaps of tools", of.MeanParts().Tool}, {"Mean wait for a session slot", of.MeanParts().SessionSlots},
			{"Mean wait for slots", of.MeanParts().Slots},
			{"Mean lag of a session", of.MeanParts().Lag}} {
			add(part.label+" (s)", layout.Decimal(part.took.Seconds()))
		}
	}
	if d := &of.Stretch; present(d) {
		add("Median time over recorded time", layout.Decimal(d.Median()))
	}
	for _, latency := range []struct {
		label string
		of    *metrics.Distribution
	}{{"lag of later turns", &of.Later.Lag}, {"drift", &of.Later.Drift}} {
		if present(latency.of) {
			rows = append(rows, vllm.LatencyRows(latency.label, latency.of, s.Header.Config.Percentiles)...)
		}
	}
	return rows
}
