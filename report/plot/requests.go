package plot

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
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
	if r.Summary.Kept.Trace == nil {
		return nil
	}
	// Each is made in a pass over all requests.
	charts := make([]Chart, 4)
	var passes sync.WaitGroup
	for i, chart := range []func() Chart{
		func() Chart { return timeline(byDue(r)) },
		func() Chart { return scatter("ttft", "Time at which the request was sent (s)", firstTokens(r), nil) },
		func() Chart { return scatter("itl", "Time at which the token came (s)", gaps(r), r.ITLMarks) },
		func() Chart { return Lengths(r) },
	} {
		passes.Go(func() { charts[i] = chart() })
	}
	passes.Wait()
	return slices.DeleteFunc(charts, func(c Chart) bool {
		return c.Series == nil || c.Name != "timeline" &&
			len(c.Series[0].X) == 0
	})
}

// byDue are the measured requests in the order in which they were due, or one in so many, and how
// many there are in all.
func byDue(r Run) (shown []record.Record, of int) {
	due := make([]time.Duration, 0, r.Summary.Kept.Trace.Records.Len())
	for rec := range r.Summary.Measured() {
		due = append(due, rec.Times.Due)
	}
	order := make([]int32, len(due))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(due[a], due[b]) })
	every := oneIn(len(due))
	rows := map[int32]int{}
	for i := 0; i < len(order); i += every {
		rows[order[i]] = i / every
	}
	shown = make([]record.Record, len(rows))
	at := int32(0)
	for rec := range r.Summary.Measured() {
		if row, is := rows[at]; is {
			shown[row] = *rec
		}
		at++
	}
	return shown, len(due)
}

// oneIn says that the timeline shows one in so many of n requests.
func oneIn(n int) int { return (n-1)/mostRows + 1 }

// timeline has a row for each request of those in order, and room for the rows of all.
func timeline(shown []record.Record, of int) Chart {
	c := Chart{Name: "timeline", Title: "Requests over time",
		Note: "Prefill lasts from sending a request to its first token, so it includes the server's queue.",
		X:    Axis{Title: "Time since the start (s)"}, Y: Axis{Title: "Request, in order of due time", Down: true}}
	every := oneIn(of)
	bars := func(name string, color int) Series {
		return Series{Name: name, Style: Bars, Color: color, Thick: float64(every)}
	}
	queue, wait := bars("queue (client)", queueColor), bars("prefill", waitColor)
	decode, failed := bars("decode", decodeColor), bars("failed", failedColor)
	if every > 1 {
		c.Note += fmt.Sprintf(" The chart shows one in %d of %d requests.", every, of)
	}
	for i, r := range shown {
		row := float64(i*every + 1)
		queue.span(row, r.Times.Due, r.Times.Sent)
		if r.Result.Class != record.OK {
			failed.span(row, r.Times.Sent, r.Times.End)
			continue
		}
		wait.span(row, r.Times.Sent, r.Answer.Chunks.First())
		decode.span(row, r.Answer.Chunks.First(), cmp.Or(r.Times.Last, r.Times.End))
	}
	for _, s := range []Series{queue, wait, decode, failed} {
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	c.Y.Min, c.Y.Max = 0, float64(of+1)
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

// scatter has a dot for each value, or for as many as keep its shape, and a line at each mark, in
// milliseconds.
func scatter(metric, axis string, all *moments, marks []float64) Chart {
	c := Chart{Name: metric + "-points", Title: metrics.Label(metric) + " over time, one by one",
		X: Axis{Title: axis}, Y: Axis{Title: metrics.Label(metric) + " (ms)"}}
	x, y := all.points()
	var span extent
	span.add(y...)
	s := Series{Name: metrics.Label(metric), Style: Dots}
	if s.X, s.Y = thin(x, y, mostPoints); len(s.X) < all.n {
		c.Note = fmt.Sprintf("%d of %d values, selected to keep the shape (LTTB, Steinarsson 2013).", len(s.X), all.n)
	}
	c.Series = []Series{s}
	for _, ms := range marks {
		c.Limits = append(c.Limits, Limit{Name: metrics.FormatPercentile(ms) + " ms", At: ms})
	}
	c.Y.Scale = span.scale(requestSpan)
	c.fit(true)
	return c
}
