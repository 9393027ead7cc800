package plot

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
)

// cell is a run of a sweep with given numbers.
func cell(arm, rate string, repeat int, throughput, ttft float64) Run {
	h := metrics.Header{Run: fmt.Sprintf("%s-%s-%d", arm, rate, repeat),
		Flags: []metrics.KV{{Key: "base-url", Value: "http://127.0.0.1:" + fmt.Sprint(8000+repeat)}, {Key: "request-rate", Value: rate}, {Key: "ignore-eos", Value: "true"}},
		Config: metrics.Config{BaseURL: "http://127.0.0.1:" + fmt.Sprint(8000+repeat), Goodput: []metrics.SLO{{Metric: "ttft", Limit: 150}},
			Metadata: []metrics.KV{{Key: "arm", Value: arm}, {Key: "repeat", Value: fmt.Sprint(repeat)}}}}
	c := aspect.Collector(&h)
	for i := range 10 {
		c.AddOutcome(metrics.Outcome{Index: i, Success: true, Out: 2, TTFT: ttft / 1000, Latency: ttft/1000 + 0.01})
	}
	s := c.Summary(10)
	s.Rates.Output = throughput
	return Run{Summary: s}
}

func grid() []Run {
	runs := []Run{
		cell("new", "inf", 1, 400, 300), cell("new", "4", 1, 100, 20), cell("new", "16", 1, 250, 40),
		cell("old", "4", 1, 90, 30), cell("old", "16", 1, 200, 90), cell("old", "inf", 1, 180, 900),
		cell("new", "16", 2, 270, 60), cell("new", "16", 3, 900, 1000),
	}
	Label(runs)
	return runs
}

func TestLabelsTellRunsApart(t *testing.T) {
	runs := grid()
	for i, want := range map[int]string{0: "new, request-rate inf, repeat 1", 6: "new, request-rate 16, repeat 2"} {
		if got := runs[i].Name(); got != want {
			t.Errorf("run %d is %q, want %q", i, got, want)
		}
	}
	Label(runs)
	if got := runs[0].Name(); got != "new, request-rate inf, repeat 1" {
		t.Errorf("labelled twice, the first run is %q", got)
	}
	same := []Run{usual.run(metrics.Header{}), usual.run(metrics.Header{})}
	Label(same)
	if got := same[1].Name(); got != "run 2" {
		t.Errorf("the second of two that are alike is %q", got)
	}
	files := []Run{{Summary: same[0].Summary, File: "old.jsonl"}, {Summary: same[1].Summary, File: "new.jsonl"}}
	Label(files)
	if got := files[0].Name(); got != "old.jsonl" {
		t.Errorf("the first of two files is %q", got)
	}
}

func TestLatencyAgainstThroughputGoesAlongTheLoad(t *testing.T) {
	charts := sweep(grid())
	c := named(charts, "ttft-median-against-throughput")
	if c == nil {
		t.Fatal("no chart")
	}
	line := c.Series[0]
	// At rate 16 the median of the repeats.
	if line.Name != "new" || !slices.Equal(line.X, Numbers{100, 270, 400}) || !near(line.Y, Numbers{20, 60, 300}) {
		t.Errorf("line %+v", line)
	}
	if !slices.Equal(c.Series[1].X, Numbers{90, 200, 180}) {
		t.Errorf("the line of old is not in the order of the load: %v", c.Series[1].X)
	}
	front := c.Series[2]
	if front.Style != Wide || !slices.Equal(front.X, Numbers{100, 270, 400}) {
		t.Errorf("front %+v", front)
	}
	if want := []Limit{{"SLO 150 ms", 150, false}}; !slices.Equal(c.Limits, want) || c.Y.Scale != Log {
		t.Errorf("limits %v, scale %q", c.Limits, c.Y.Scale)
	}
}

func near(a, b Numbers) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-6 })
}

func TestEachFlagOfTheGridHasItsCharts(t *testing.T) {
	charts := sweep(grid())
	c := named(charts, "throughput-over-request-rate")
	if c == nil || !slices.Equal(c.X.Names, []string{"4", "16", "inf"}) || !slices.Equal(c.Series[0].Y, Numbers{100, 270, 400}) {
		t.Fatalf("chart %+v", c)
	}
	seen := map[string]bool{}
	for _, c := range charts {
		if seen[c.Name] {
			t.Errorf("two charts are called %s", c.Name)
		}
		seen[c.Name] = true
	}
}

func TestParetoFrontHasNoPointThatAnotherBetters(t *testing.T) {
	points := []Series{{X: Numbers{1, 2, 3, 3, 2.5}, Y: Numbers{5, 5, 9, 8, 6}}}
	if front := pareto(points, -1); !slices.Equal(front.X, Numbers{2, 2.5, 3}) || !slices.Equal(front.Y, Numbers{5, 6, 8}) {
		t.Errorf("with less of Y better: front %v %v", front.X, front.Y)
	}
	points = append(points, Series{X: Numbers{2.5, 1}, Y: Numbers{10, 12}})
	if front := pareto(points, 1); !slices.Equal(front.X, Numbers{1, 2.5, 3}) || !slices.Equal(front.Y, Numbers{12, 10, 9}) {
		t.Errorf("with more of Y better: front %v %v", front.X, front.Y)
	}
}

func TestTargetsAreNotRanked(t *testing.T) {
	runs := []Run{usual.run(metrics.Header{Target: "a"}), usual.run(metrics.Header{Target: "b", Solo: true})}
	Label(runs)
	if got := sweep(runs); got != nil || runs[1].Name() != "b alone" {
		t.Errorf("%d charts, %q", len(got), runs[1].Name())
	}
}

func TestManyRunsAreNotOverlaid(t *testing.T) {
	var runs []Run
	for i := range MostOverlaid + 1 {
		runs = append(runs, cell("a", fmt.Sprint(i+1), 1, float64(i), 10))
	}
	Label(runs)
	if got := Comparison(runs); len(got) != 1 || got[0].Name != "sweep" {
		t.Errorf("chapters %v", got)
	}
	runs = runs[:MostOverlaid]
	if got := Comparison(runs); len(got) != 2 || got[1].Name != "distributions" {
		t.Errorf("chapters %v", got)
	}
}

func TestManyLinesAreShownInPart(t *testing.T) {
	var runs []Run
	for i := range 25 {
		for _, rate := range []string{"1", "2"} {
			runs = append(runs, cell(fmt.Sprint("arm", i), rate, 1, float64(100+i), float64(50-i)))
		}
	}
	Label(runs)
	c := named(sweep(runs), "ttft-median-against-throughput")
	if n := len(c.Series); n != MostOverlaid || c.Series[9].Name != "arm22" || c.Series[9].Color != 9 {
		t.Errorf("%d lines, the last %s", n, c.Series[n-1].Name)
	}
	if want := "A line goes from the lowest request-rate to the highest. 10 of 25 lines are shown. SLO 150 ms lies beyond the chart."; c.Note != want {
		t.Errorf("note %q, want %q", c.Note, want)
	}
}

func TestThroughputPerGPUAndPerUser(t *testing.T) {
	var runs []Run
	for _, r := range []struct {
		tp, users  string
		concurrent int
		throughput float64
	}{{"1", "4", 4, 400}, {"1", "16", 16, 800}, {"1", "64", 64, 1000}, {"2", "4", 4, 560}, {"2", "16", 16, 1700}, {"2", "64", 64, 2600}} {
		run := cell("tp"+r.tp, "inf", 1, r.throughput, 20)
		run.Summary.Header.Run += r.users
		run.Summary.Header.Flags = []metrics.KV{{Key: "max-concurrency", Value: r.users}}
		run.Summary.Header.Config.MaxConcurrency = r.concurrent
		run.Summary.Header.Config.Metadata = append(run.Summary.Header.Config.Metadata, metrics.KV{Key: "tensor-parallel-size", Value: r.tp})
		runs = append(runs, run)
	}
	Label(runs)
	c := named(sweep(runs), "throughput-per-gpu-against-per-user")
	if c == nil || len(c.Series) != 3 {
		t.Fatalf("%+v", c)
	}
	front := c.Series[2]
	// 64, 16 and 4 users on two GPUs.
	if want := []float64{40.625, 106.25, 140}; !slices.Equal(front.X, want) {
		t.Errorf("the front has %v tok/s per user, want %v", front.X, want)
	}
	if want := []float64{1300, 850, 280}; !slices.Equal(front.Y, want) {
		t.Errorf("the front has %v tok/s per GPU, want %v", front.Y, want)
	}
}
