package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
)

// How many requests and points a chart shows.
const (
	mostRows   = 300
	mostPoints = 1500
)

// The palette's colours of a request's parts.
const (
	queueColor  = Neutral
	waitColor   = 1
	decodeColor = 0
	failedColor = 3
)

// singleRequests are the charts of single requests: a timeline of what each waited for, TTFT and
// ITL over time, and the lengths of prompts and outputs. There are none without a Trace. If there
// are many requests, the timeline shows one in so many. If there are many points, a chart shows
// those that keep its shape.
func singleRequests(r Run) []Chart {
	records := r.measured()
	if len(records) == 0 {
		return nil
	}
	slices.SortStableFunc(records, func(a, b *metrics.Record) int { return cmp.Compare(a.Due, b.Due) })
	charts := []Chart{timeline(records)}
	for _, c := range []Chart{scatter("ttft", "Time at which the request was sent (s)", firstTokens(records), nil),
		scatter("itl", "Time at which the token came (s)", gaps(records), r.ITLMarks)} {
		if len(c.Series[0].X) > 0 {
			charts = append(charts, c)
		}
	}
	if c := lengths(records); c.Series != nil {
		charts = append(charts, c)
	}
	return charts
}

// measured are the records of the Trace without the warm-up.
func (r *Run) measured() (records []*metrics.Record) {
	if r.Trace == nil {
		return nil
	}
	for _, rec := range r.Trace.Records {
		if rec.Phase != metrics.WarmUp {
			records = append(records, rec)
		}
	}
	return records
}

// timeline has a row for each request, in the order in which they were due.
func timeline(records []*metrics.Record) Chart {
	c := Chart{Name: "timeline", Title: "Requests over time",
		Note: "Prefill lasts from sending a request to its first token, so it includes the server's queue.",
		X:    Axis{Title: "Time since the start (s)"}, Y: Axis{Title: "Request, in order of due time", Down: true}}
	every := (len(records)-1)/mostRows + 1
	bars := func(name string, color int) Series {
		return Series{Name: name, Style: Bars, Color: color, Thick: float64(every)}
	}
	queue, wait := bars("queue (client)", queueColor), bars("prefill", waitColor)
	decode, failed := bars("decode", decodeColor), bars("failed", failedColor)
	if every > 1 {
		c.Note += fmt.Sprintf(" The chart shows one in %d of %d requests.", every, len(records))
	}
	for i := 0; i < len(records); i += every {
		r, row := records[i], float64(i+1)
		queue.span(row, r.Due, r.Sent)
		if r.Class != metrics.OK {
			failed.span(row, r.Sent, r.End)
			continue
		}
		wait.span(row, r.Sent, r.Chunks.First())
		decode.span(row, r.Chunks.First(), cmp.Or(r.Last, r.End))
	}
	for _, s := range []Series{queue, wait, decode, failed} {
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	c.Y.Min, c.Y.Max = 0, float64(len(records)+1)
	c.fit(true)
	return c
}

// span adds a bar, if it has any length.
func (s *Series) span(row float64, from, to time.Duration) {
	if to > from {
		s.add(from.Seconds(), row)
		s.To = append(s.To, to.Seconds())
	}
}

// A moment is a latency and its time, in seconds.
type moment struct{ at, took float64 }

func firstTokens(records []*metrics.Record) (all []moment) {
	for _, r := range records {
		if r.Class == metrics.OK {
			all = append(all, moment{r.Sent.Seconds(), r.TTFT().Seconds()})
		}
	}
	return all
}

func gaps(records []*metrics.Record) (all []moment) {
	for _, r := range records {
		if r.Class != metrics.OK {
			continue
		}
		at := r.Chunks.First()
		for gap := range r.Chunks.Gaps() {
			at += gap
			all = append(all, moment{at.Seconds(), gap.Seconds()})
		}
	}
	return all
}

// scatter has a dot for each moment, or for as many as keep its shape, and a line at each mark, in
// milliseconds.
func scatter(metric, axis string, all []moment, marks []float64) Chart {
	c := Chart{Name: metric + "-points", Title: strings.ToUpper(metric) + " over time, one by one",
		X: Axis{Title: axis}, Y: Axis{Title: strings.ToUpper(metric) + " (ms)"}}
	slices.SortFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	var x, y []float64
	for _, m := range all {
		x, y = append(x, m.at), append(y, m.took*1000)
	}
	var span extent
	span.add(y...)
	s := Series{Name: strings.ToUpper(metric), Style: Dots}
	if s.X, s.Y = thin(x, y, mostPoints); len(s.X) < len(x) {
		c.Note = fmt.Sprintf("%d of %d values, selected to keep the shape (LTTB, Steinarsson 2013).", len(s.X), len(x))
	}
	c.Series = []Series{s}
	for _, ms := range marks {
		c.Limits = append(c.Limits, Limit{Name: metrics.FormatPercentile(ms) + " ms", At: ms})
	}
	c.Y.Scale = span.scale(requestSpan)
	c.fit(true)
	return c
}
