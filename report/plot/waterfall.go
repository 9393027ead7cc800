package plot

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/metrics/aspect/spans"
)

// spanColors are the palette's colors of spans, by spans.Span. The server's are as in the timeline.
var spanColors = []int{queueColor, failedColor, 5, 7, sessionSlotColor, waitColor, personColor, waitColor, decodeColor,
	8}

// Of the charts of spans.
const (
	mostBars  = 40    // rows
	leastTime = 0.001 // ms: a logarithmic axis has no 0
)

// waterfalls are the charts of the spans of a run's requests: their means over time, and their
// distributions. There are none unless they were requested, and none without a Trace.
func waterfalls(r Run) []Chart {
	if r.Summary.Parts.Spans == nil || r.Summary.Kept.Trace == nil {
		return nil
	}
	whole := Chart{Name: "waterfall", Title: "Waterfall of requests, over the run"}
	begin := Chart{Name: "waterfall-ttft", Title: "Waterfall until the first output, over the run"}
	return []Chart{spansOverTime(r, whole, spans.Read), spansOverTime(r, begin, spans.FirstOutput),
		spanShares(r)}
}

// spansOverTime is c with a bar for the requests that were due in each part of the run: their mean
// spans up to last, one after the other.
func spansOverTime(r Run, c Chart, last spans.Span) Chart {
	whole := r.Summary.Whole()
	width := max(seconds(even(max(r.Summary.When.Seconds, 0.001)/mostBars)), leastSlice)
	c.Note = fmt.Sprintf("Means of the requests that were due in each %v.", width)
	c.X, c.Y = Axis{Title: "Time since the request was due (ms)"},
		Axis{Title: "Time at which the request was due (s)", Down: true}
	parts := map[int]*spans.Waterfall{}
	rows := 0
	for rec := range r.Summary.Measured() {
		i := int(min(max(rec.Times.Due-whole.From, 0)/width, mostBars))
		if parts[i] == nil {
			parts[i] = new(spans.Waterfall)
		}
		parts[i].Add(rec)
		rows = max(rows, i+1)
	}
	var all spans.Spans
	bars := make([]Series, len(all))
	for span := range all.All() {
		bars[span] = Series{Name: span.Label(), Style: Bars, Color: spanColors[span], Thick: width.Seconds()}
	}
	for i := range rows {
		from := whole.From + time.Duration(i)*width
		c.Rows = append(c.Rows, fmt.Sprintf("%v to %v", from.Round(time.Millisecond), (from+width).Round(time.Millisecond)))
		if parts[i] == nil {
			continue
		}
		at := 0.0
		for span := range all.All() {
			took := parts[i].Mean(span)
			if took > 0 && span <= last {
				bars[span].add(at, (float64(i)+0.5)*width.Seconds())
				bars[span].To = append(bars[span].To, at+took)
			}
			at += took
		}
	}
	for _, s := range bars {
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	c.Y.Max = float64(rows) * width.Seconds()
	c.fit(true)
	return c
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// spanShares is the ECDF of each span.
func spanShares(r Run) Chart {
	c := ecdf("waterfall-ecdf", "ECDF of each span", "Time (ms)", "requests")
	c.X.Scale = Log
	bounded := false
	for span := range r.Summary.Parts.Spans {
		d := &r.Summary.Parts.Spans[span]
		if d.Len() == 0 {
			continue
		}
		s := rising(spans.Span(span).Label(), spanColors[span], d.Len(), d.Percentile)
		for i, v := range s.X {
			bounded = bounded || v < leastTime
			s.X[i] = math.Max(v, leastTime)
		}
		c.Series = append(c.Series, s)
	}
	if bounded {
		c.Note = fmt.Sprintf("Times below %g ms, and also below 0, are drawn there.", leastTime)
	}
	c.fit(true)
	return c
}
