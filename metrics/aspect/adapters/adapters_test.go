package adapters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// requests are made-up requests of ten seconds.
func requests(n int) []*record.Record {
	random := rand.New(rand.NewPCG(1, 2))
	records := make([]*record.Record, n)
	for i := range records {
		r := &record.Record{Index: i, Tokens: record.Tokens{In: 100}, Times: record.Times{Due: time.Duration(random.Int64N(1e10))}}
		r.Times.Slot = r.Times.Due + time.Duration(random.Int64N(1e8))
		r.Times.Sent = r.Times.Slot + time.Duration(random.Int64N(1e6))
		at := r.Times.Sent + time.Duration(random.Int64N(1e9))
		r.Tokens.Out = 1 + random.IntN(60)
		for range r.Tokens.Out {
			r.Answer.Chunks.Append(at)
			at += time.Duration(random.ExpFloat64() * 1e7)
		}
		r.Times.Last = r.Answer.Chunks.Last()
		r.Times.End = r.Times.Last
		records[i] = r
	}
	return records
}

// traced sums up a run of so many seconds, and keeps its Trace.
func traced(c metrics.Config, seconds float64, records ...*record.Record) *metrics.Summary {
	collector := metrics.NewCollector(&metrics.Header{Config: c}, Kind)
	collector.Keep.Trace = true
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(seconds)
}

// adapted are made-up records to three adapters and to none. Some fail.
func adapted(n int) []*record.Record {
	records := requests(n)
	for i, r := range records {
		if r.Adapter = []string{"sql", "", "chat", "sql", "math"}[i%5]; i%7 == 3 {
			r.Result.Class, r.Result.Error = record.Status, "no"
		}
		r.Answer.Unstreamed = i%11 == 5
	}
	return records
}

// adaptersOf are the adapters of records, and what a Collector makes of the records of each alone.
func adaptersOf(c metrics.Config, records []*record.Record) (all []Adapter, alone []*metrics.Summary) {
	collectors := map[string]*metrics.Collector{}
	whole := metrics.NewCollector(&metrics.Header{Config: c}, Kind)
	for _, r := range records {
		whole.Add(r)
		if collectors[r.Adapter] == nil {
			collectors[r.Adapter] = metrics.NewCollector(&metrics.Header{Config: c}, Kind)
		}
		collectors[r.Adapter].Add(r)
	}
	all = Of(whole.Summary(20))
	for i := range all {
		alone = append(alone, collectors[all[i].Name].Summary(20))
	}
	return all, alone
}

// same says how an adapter differs from the Summary of its requests; "" if it does not.
func (a *Adapter) same(s *metrics.Summary) string {
	got := []float64{float64(a.Completed), float64(a.Failed), float64(a.Input), float64(a.Output), a.RequestThroughput, a.OutputThroughput, a.Goodput}
	want := []float64{float64(s.Completed), float64(s.Failed), float64(s.Totals.Input), float64(s.Totals.Output), s.Rates.Requests, s.Rates.Output, s.Rates.Goodput}
	for _, pair := range [][2]*metrics.Distribution{{&a.TTFT, &s.TTFT}, {&a.TPOT, &s.TPOT}, {&a.E2EL, &s.E2EL}} {
		for i, d := range pair {
			into := []*[]float64{&got, &want}[i]
			*into = append(*into, float64(d.Len()), d.Mean(), d.Median(), d.Percentile(99))
		}
	}
	if !slices.EqualFunc(got, want, func(x, y float64) bool {
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) < 1e-9*math.Abs(y)
	}) {
		return fmt.Sprintf("%s: %v, want %v", a.Name, got, want)
	}
	return ""
}

func TestAnAdapterHasTheNumbersOfItsRequests(t *testing.T) {
	for _, c := range []metrics.Config{{}, {Goodput: []metrics.SLO{{Metric: "ttft", Limit: 500}}}} {
		all, alone := adaptersOf(c, adapted(300))
		if len(all) != 3 || all[0].Name != "chat" || all[1].Name != "math" || all[2].Name != "sql" {
			t.Fatalf("%+v", all)
		}
		for i := range all {
			if differs := all[i].same(alone[i]); differs != "" {
				t.Error(differs)
			}
			if good := all[i].Goodput; c.Goodput != nil && !(good > 0 && good < all[i].RequestThroughput) {
				t.Errorf("the goodput %v says nothing", good)
			}
		}
	}
}

func TestRequestsWithoutAdaptersHaveNoRow(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for _, r := range requests(10) {
		c.Add(r)
	}
	if s := c.Summary(1); Of(s) != nil {
		t.Errorf("%+v", Of(s))
	}
}

func TestAdaptersOfAWindowAddUpToIt(t *testing.T) {
	records := adapted(300)
	for _, r := range records {
		if r.Adapter == "" {
			r.Adapter = "chat"
		}
	}
	w := traced(metrics.Config{Goodput: []metrics.SLO{{Metric: "ttft", Limit: 500}}}, 20, records...).Within(metrics.Window{From: 2 * time.Second, To: 5 * time.Second})
	var completed, failed, input, output, first int
	var goodput float64
	for i := range Of(w) {
		a := &Of(w)[i]
		completed, failed, input, output = completed+a.Completed, failed+a.Failed, input+a.Input, output+a.Output
		first, goodput = first+a.TTFT.Len(), goodput+a.Goodput
	}
	if len(Of(w)) != 3 || completed != w.Completed || failed != w.Failed || input != w.Totals.Input || output != w.Totals.Output ||
		first != w.TTFT.Len() || math.Abs(goodput-w.Rates.Goodput) > 1e-9 || w.Parts.Of.Crossing == 0 || completed == 0 {
		t.Errorf("%d and %d requests, %d and %d tokens, %d first chunks, goodput %v; the window has %+v", completed, failed, input, output, first, goodput, w)
	}
}

func TestAdaptersOfShardsMerge(t *testing.T) {
	records := adapted(200)
	whole, one, other := metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind)
	for i, r := range records {
		whole.Add(r)
		[]*metrics.Collector{one, other}[i%2].Add(r)
	}
	one.Merge(other, 0)
	got, want := Of(one.Summary(20)), Of(whole.Summary(20))
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		sum := &metrics.Summary{
			Completed: want[i].Completed, Failed: want[i].Failed, TTFT: want[i].TTFT, TPOT: want[i].TPOT, E2EL: want[i].E2EL, Totals: metrics.Totals{Input: want[i].Input, Output: want[i].Output}, Rates: metrics.Rates{Requests: want[i].RequestThroughput, Output: want[i].OutputThroughput, Goodput: want[i].Goodput},
		}
		if differs := got[i].same(sum); differs != "" {
			t.Error(differs)
		}
	}
}

func TestManyAdaptersShareARow(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for i, r := range requests(250) {
		r.Adapter = fmt.Sprintf("a-%03d", i%125)
		c.Add(r)
	}
	all := Of(c.Summary(1))
	if len(all) != 101 || all[0].Name != others || all[0].Completed != 50 || all[100].Name != "a-099" || all[100].Completed != 2 {
		t.Errorf("%d adapters, the first %+v", len(all), all[0].Name)
	}
}

// The latencies of adapters become approximate when the run's do, and not before.
func TestAdaptersKeepNoMoreThanTheRun(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	c.Cap = 100
	for i, r := range requests(101) {
		r.Adapter = []string{"a", "b"}[i%2]
		if c.Add(r); i == 99 {
			if all := Of(c.Summary(1)); all[0].TTFT.Approximate() || all[1].E2EL.Approximate() {
				t.Error("approximate with 100 requests")
			}
		}
	}
	all := Of(c.Summary(1))
	if !all[0].TTFT.Approximate() || !all[1].TTFT.Approximate() || all[0].TTFT.Len() != 51 {
		t.Errorf("%d and %d requests are exact", all[0].TTFT.Len(), all[1].TTFT.Len())
	}
}

// The row of the others takes no place from an adapter when shards are merged, and the names decide
// which adapters have rows.
func TestManyAdaptersOfShardsMergeInOneWay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	shard := func(from, n int) *metrics.Collector {
		c := metrics.NewCollector(&metrics.Header{}, Kind)
		for i, r := range requests(n) {
			r.Adapter = fmt.Sprintf("a-%03d", from+i)
			c.Add(r)
		}
		return c
	}
	for range 3 {
		all := metrics.NewCollector(&metrics.Header{}, Kind)
		all.Merge(shard(0, 125), 0)
		rows := Of(all.Summary(1))
		if n := len(rows); n != 101 || rows[0].Name != others || rows[0].Completed != 25 || rows[100].Name != "a-099" || rows[100].Completed != 1 {
			t.Fatalf("%d adapters, the last %s, %d others", n, rows[n-1].Name, rows[0].Completed)
		}
		all = shard(0, 80)
		all.Merge(shard(80, 80), 0)
		rows = Of(all.Summary(1))
		if n := len(rows); n != 101 || rows[0].Name != others || rows[0].Completed != 60 || rows[100].Name != "a-099" {
			t.Fatalf("%d adapters, the last %s, %d others", n, rows[n-1].Name, rows[0].Completed)
		}
	}
}

func TestAdaptersOfPoolingHaveNoOutput(t *testing.T) {
	c := metrics.Config{Traits: metrics.Traits{Pooled: true}}
	records := adapted(60)
	all, _ := adaptersOf(c, records)
	all = append(all, Of(traced(c, 20, records...).Within(metrics.Window{From: 0, To: 20 * time.Second}))...)
	for _, a := range all {
		if !math.IsNaN(a.OutputThroughput) || a.RequestThroughput <= 0 {
			t.Errorf("%s: %v tokens and %v requests a second", a.Name, a.OutputThroughput, a.RequestThroughput)
		}
	}
	if len(all) != 6 {
		t.Errorf("%d adapters", len(all))
	}
}

// Shards whose latencies are exact have approximate ones together, once they are too many.
func TestAdaptersOfShardsKeepNoMoreThanTheRun(t *testing.T) {
	shard := func() *metrics.Collector {
		c := metrics.NewCollector(&metrics.Header{}, Kind)
		c.Cap = 100
		for _, r := range requests(40) {
			r.Adapter = "a"
			c.Add(r)
		}
		return c
	}
	whole := shard()
	for n, approximate := range []bool{false, true, true} {
		whole.Merge(shard(), 0)
		if a := Of(whole.Summary(1))[0]; a.TTFT.Approximate() != approximate || a.E2EL.Approximate() != approximate || a.E2EL.Len() != 40*(n+2) {
			t.Errorf("%d shards: approximate %t and %t, %d values", n+2, a.TTFT.Approximate(), a.E2EL.Approximate(), a.E2EL.Len())
		}
	}
}
