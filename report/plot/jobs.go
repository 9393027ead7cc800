package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/sessions"
)

// sessionCharts are the charts of sessions: TTFT and cached prompt tokens by turn, what job times are
// made of, and a timeline. There are none without sessions of several turns. Several runs have the
// first two. Without a Trace, a run has no others.
func sessionCharts(runs []Run) (charts []Chart) {
	charts = append(charts, byTurn(runs, Chart{Name: "turns-ttft", Title: "TTFT by turn", Y: Axis{Title: "TTFT (ms)"}},
		[]turnLine{
			{"median", func(r *sessions.TurnRow) float64 { return middle(&r.TTFT, 50) }},
			{"P99", func(r *sessions.TurnRow) float64 { return middle(&r.TTFT, 99) }},
		}), byTurn(runs, Chart{Name: "turns-cached", Title: "Prompt tokens in the prefix cache by turn",
		Y: Axis{Title: "Share of the prompt tokens (%)", Max: 100}}, []turnLine{
		{"cached", func(r *sessions.TurnRow) float64 { return 100 * r.Cache.CachedShare() }},
		{"reusable", func(r *sessions.TurnRow) float64 { return 100 * r.Cache.ReusableShare() }},
	}))
	if len(runs) == 1 && sessions.Of(runs[0].Summary) != nil {
		all := barsOf(runs[0])
		charts = append(charts, jobParts(runs[0], all), sessionTimeline(runs[0], all))
	}
	return slices.DeleteFunc(charts, func(c Chart) bool { return c.Series == nil })
}

// A turnLine is one number of the turns of a row, NaN where it is unknown.
type turnLine struct {
	name string
	of   func(*sessions.TurnRow) float64
}

// byTurn has a line for each number of one run, or a line for each run of the first number.
func byTurn(runs []Run, c Chart, lines []turnLine) Chart {
	c.X = Axis{Title: "Turn of the session", Scale: Category}
	colors := colors(runs)
	if len(runs) > 1 {
		c.Title += ": " + lines[0].name
	}
	rows := 0
	for i, run := range runs {
		of := sessions.Of(run.Summary)
		if of == nil {
			continue
		}
		rows = max(rows, len(of.Rows))
		for k, line := range lines {
			s := Series{Name: line.name, Style: Path, Color: k}
			if len(runs) > 1 {
				s.Name, s.Color = seriesName(runs, i), colors[i]
			}
			for row := range of.Rows {
				s.add(float64(row), line.of(&of.Rows[row]))
			}
			if s.known() && (k == 0 || len(runs) == 1) {
				c.Series = append(c.Series, s)
			}
		}
	}
	for row := range rows {
		c.X.Names = append(c.X.Names, sessions.TurnNumbers(row))
	}
	c.fit(true)
	return c
}

// middle is a percentile of a row's latency, NaN without values.
func middle(d *metrics.Distribution, p float64) float64 {
	if d.Len() == 0 && d.Quoted == nil {
		return math.NaN()
	}
	return d.Percentile(p)
}

// mostJobs is how many bars the chart of job times has.
const mostJobs = 40

// jobParts has a bar for each completed session, from the shortest at the bottom to the longest, or
// for so many equal groups of them: what their job time is made of, on average.
func jobParts(r Run, all []sessionBar) Chart {
	all = slices.DeleteFunc(slices.Clone(all), func(s sessionBar) bool { return s.turns < s.of || s.failed })
	n := min(len(all), mostJobs)
	c := Chart{Name: "job-parts", Title: "Job times and their parts",
		Note: "Parts are along the path of turns that the end of a session waited for.",
		X:    Axis{Title: "Time since the session was due (s)"},
		Y:    Axis{Title: "Share of sessions with a shorter job (%)", Max: 100}}
	if n == 0 {
		return c
	}
	group := map[sessionKey]int{}
	collectors := make([]*metrics.Collector, n)
	for i, s := range all {
		group[s.key] = i * n / len(all)
	}
	for i := range collectors {
		collectors[i] = metrics.NewCollector(&metrics.Header{}, sessions.Kind)
		name := fmt.Sprintf("session %d of %d", i+1, n)
		if n < len(all) {
			name = fmt.Sprintf("sessions from %d to %d of %d", (i*len(all)+n-1)/n+1, ((i+1)*len(all)+n-1)/n, len(all))
		}
		c.Rows = append(c.Rows, name)
	}
	for rec := range r.Summary.Measured() {
		if rec.Session == nil {
			continue
		}
		if i, is := group[keyOf(rec)]; is {
			collectors[i].Add(rec)
		}
	}
	thick := 100 / float64(n)
	g := newGantt(thick)
	for i, collector := range collectors {
		if of := sessions.Of(collector.Summary(1)); of != nil {
			g.stack((float64(i)+0.5)*thick, of.MeanParts())
		}
	}
	g.put(&c)
	if n < len(all) {
		c.Note = fmt.Sprintf("%d sessions in %d groups. ", len(all), n) + c.Note
	}
	c.fit(true)
	return c
}
