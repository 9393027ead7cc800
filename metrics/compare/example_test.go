package compare_test

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/record"
)

// runs are runs of 100 requests whose TTFT is about so long.
func runs(name string, ttft time.Duration) []*brief.Run {
	var sums []*metrics.Summary
	for i := range 5 {
		header := &metrics.Header{Run: fmt.Sprint(name, i), Config: metrics.Config{Model: "demo", RequestRate: math.Inf(1)}}
		c := aspect.Collector(header)
		for range 100 {
			r := &record.Record{Run: header.Run, Tokens: record.Tokens{In: 10, Out: 2}}
			r.Answer.Chunks.Append(ttft + time.Duration(i)*time.Millisecond)
			r.Answer.Chunks.Append(ttft + 20*time.Millisecond)
			r.Times.Last = r.Answer.Chunks.Last()
			r.Times.End = r.Times.Last
			c.Add(r)
		}
		sums = append(sums, c.Summary(1))
	}
	return brief.Runs(sums)
}

// Five runs a side decide whether the median TTFT got worse by more than 5 %.
func ExampleCompare() {
	ttft, _ := numbers.Find("median_ttft")
	gate := gating.Gate{Limits: []gating.Margin{{Number: ttft, Relative: 0.05}}}
	old, new := runs("old", 100*time.Millisecond), runs("new", 120*time.Millisecond)
	for i := range old { // in turns, each on its own start
		old[i].Start, old[i].Began = fmt.Sprint("old ", i), time.Unix(int64(100*i), 0)
		new[i].Start, new[i].Began = fmt.Sprint("new ", i), time.Unix(int64(100*i+50), 0)
	}
	c := compare.Compare(old, new, gate)
	fmt.Println(c.Verdict, c.Reasons)
	for _, row := range c.Points[0].Rows {
		if row.Judgement.Gated {
			fmt.Printf("%s: %.0f to %.0f %s, %s\n", row.Number.Name, row.Effect.From, row.Effect.To, row.Number.Unit, compare.Percent(row.Effect.Share))
		}
	}
	// Output:
	// REGRESSED [median_ttft +19.6 %, by at least 17.4 % (102.00 → 122.00 ms; margin 5 %; p=0.004)]
	// median_ttft: 102 to 122 ms, +19.6 %
}

// Each pair of a sweep has a difference, on the scale on which Limit is the margin.
func ExampleRow() {
	ttft, _ := numbers.Find("median_ttft")
	gate := gating.Gate{Limits: []gating.Margin{{Number: ttft, Relative: 0.05}}}
	old, new := runs("old", 100*time.Millisecond), runs("new", 120*time.Millisecond)
	for i := range old {
		old[i].Repeat, old[i].Start, old[i].Began = i+1, fmt.Sprint("old ", i), time.Unix(int64(100*i), 0)
		new[i].Repeat, new[i].Start, new[i].Began = i+1, fmt.Sprint("new ", i), time.Unix(int64(100*i+50), 0)
	}
	point := compare.Compare(old, new, gate).Points[0]
	pairs, _ := point.Units()
	fmt.Println(point.Design, pairs)
	for _, row := range point.Rows {
		if row.Judgement.Gated {
			fmt.Printf("%.3f beyond %.3f?\n", row.Evidence.Differences, row.Limit())
		}
	}
	// Output:
	// paired 5
	// [0.182 0.181 0.179 0.177 0.176] beyond 0.049?
}
