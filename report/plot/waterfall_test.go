package plot

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/record"
)

// spanned is a run of 100 requests, one each 100 ms, of 2 ms until a slot, 10 ms in the server's queue
// in the first half of the run and 20 in the second, 5 ms of prefill, and 30 of generation. The first
// has 1 ms less until its first output than its server reports.
func spanned() *metrics.Summary {
	c := aspect.Collector(&metrics.Header{})
	c.Keep.Trace = true
	for i := range 100 {
		due, queue := time.Duration(i)*100*time.Millisecond, 10*time.Millisecond
		if i >= 50 {
			queue *= 2
		}
		r := &record.Record{Index: i, Times: record.Times{Due: due, Slot: due + 2*time.Millisecond, Sent: due + 2*time.Millisecond, Wrote: due + 2*time.Millisecond}, Tokens: record.Tokens{Out: 2}}
		r.Server = &record.ServerTimes{QueueMS: new(metrics.Milliseconds(queue)), TTFTMS: new(5.0)}
		first := r.Times.Sent + queue + 5*time.Millisecond
		if i == 0 {
			first -= time.Millisecond
		}
		r.Answer.Chunks.Append(first)
		r.Answer.Chunks.Append(first + 30*time.Millisecond)
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	return c.Summary(10)
}

func TestWaterfallsOverARun(t *testing.T) {
	s := spanned()
	if charts := waterfalls(Run{Summary: s}); charts != nil {
		t.Errorf("%d charts, which nobody requested", len(charts))
	}
	s.Parts.Spans = spans.Each(s)
	charts := waterfalls(Run{Summary: s})
	if len(charts) != 3 || charts[0].Name != "waterfall" || charts[1].Name != "waterfall-ttft" || charts[2].Name != "waterfall-ecdf" {
		t.Fatalf("charts %+v", charts)
	}
	// 10 s in slices of 500 ms.
	if len(charts[0].Rows) != 20 || charts[0].Rows[19] != "9.5s to 10s" || charts[0].Y.Max != 10 {
		t.Errorf("%d rows, the last of %q, up to %v", len(charts[0].Rows), charts[0].Rows[19], charts[0].Y.Max)
	}
	want := map[string][2]float64{"wait for a slot": {0, 2}, "server queue": {2, 22}, "prefill": {22, 27}, "generation": {27, 57}}
	for i, chart := range charts[:2] {
		for _, series := range chart.Series {
			ends, known := want[series.Name]
			last := len(series.X) - 1
			if !known || i == 1 && series.Name == "generation" || series.X[last] != ends[0] || series.To[last] != ends[1] || series.Y[last] != 9.75 || len(series.X) != 20 || series.Thick != 0.5 {
				t.Errorf("%s: %s from %v to %v at %v", chart.Name, series.Name, series.X[last], series.To[last], series.Y[last])
			}
		}
	}
	if len(charts[0].Series) != 4 || len(charts[1].Series) != 3 {
		t.Errorf("%d and %d series", len(charts[0].Series), len(charts[1].Series))
	}
	shares := charts[2]
	if len(shares.Series) != 5 || shares.Note == "" || shares.X.Scale != Log {
		t.Errorf("%d series, %q", len(shares.Series), shares.Note)
	}
	for _, series := range shares.Series {
		if series.Name == "network and front end" && (series.X[0] != leastTime || s.Parts.Spans[spans.Network].Percentile(0) != -1) {
			t.Errorf("a rest below 0 is drawn at %v", series.X[0])
		}
	}
}

// A damaged line may have any time.
func TestAWaterfallHasFewRows(t *testing.T) {
	s := spanned()
	far := &record.Record{Times: record.Times{Due: 1000 * time.Hour, Slot: 1000 * time.Hour, Sent: 1000 * time.Hour}, Tokens: record.Tokens{Out: 1}}
	far.Answer.Chunks.Append(1000 * time.Hour)
	far.Times.Last, far.Times.End = far.Answer.Chunks.Last(), far.Answer.Chunks.Last()
	c := aspect.Collector(s.Header)
	c.Keep.Trace = true
	for r := range s.Measured() {
		c.Add(r)
	}
	c.Add(far)
	s = c.Summary(10)
	s.Parts.Spans = spans.Each(s)
	if n := len(waterfalls(Run{Summary: s})[0].Rows); n > mostBars+1 {
		t.Errorf("%d rows", n)
	}
}
