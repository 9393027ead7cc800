package plot

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/trust"
)

// A workload is runs whose numbers are known beforehand: requests are due every
// gap, wait for a slot, then for their first token, and get tokens one by one.
type workload struct {
	requests, tokens int
	gap              time.Duration // between requests
	queue, ttft, itl time.Duration
	fail             int // every so many requests; 0 for none
}

var usual = workload{requests: 20, tokens: 11, gap: 100 * time.Millisecond, queue: 5 * time.Millisecond, ttft: 50 * time.Millisecond, itl: 10 * time.Millisecond}

func (w workload) run(h metrics.Header) Run {
	c := aspect.Collector(&h)
	c.Keep.Trace = true
	var last time.Duration
	for i := range w.requests {
		due := time.Duration(i) * w.gap
		r := &record.Record{Index: i, Attempts: 1, Times: record.Times{Due: due, Slot: due + w.queue, Sent: due + w.queue}, Tokens: record.Tokens{In: 10, Out: w.tokens}, Result: record.Result{Status: 200}}
		at := r.Times.Sent + w.ttft
		for range w.tokens {
			r.Answer.Chunks.Append(at)
			at += w.itl
		}
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		if w.fail > 0 && i%w.fail == 0 {
			r.Result.Class, r.Result.Error, r.Answer.Chunks, r.Times.Last, r.Tokens.Out = record.Status, "<b>busy</b>", record.Stamps{}, 0, 0
		}
		last = max(last, r.Times.End)
		c.Add(r)
	}
	s := c.Summary(last.Seconds())
	trust.Judge(s)
	return Run{Summary: s}
}

// recordsOf are copies of the records of the Trace, without the warm-up.
func recordsOf(r Run) (all []record.Record) {
	for rec := range r.Summary.Measured() {
		all = append(all, *rec)
	}
	return all
}

// keep puts other records in the Trace.
func keep(r Run, all []record.Record) {
	c := aspect.Collector(r.Summary.Header)
	c.Keep.Trace = true
	for _, rec := range all {
		c.Add(&rec)
	}
	r.Summary.Kept.Trace.Records = c.Summary(r.Summary.When.Seconds).Kept.Trace.Records
}

func named(charts []Chart, name string) *Chart {
	for i := range charts {
		if charts[i].Name == name {
			return &charts[i]
		}
	}
	return nil
}

// at is the Y of the point at x, NaN where there is none.
func (s *Series) at(x float64) float64 {
	i := slices.IndexFunc(s.X, func(v float64) bool { return math.Abs(v-x) < 1e-9 })
	if i < 0 {
		return math.NaN()
	}
	return s.Y[i]
}

func TestNumbersThatAreNotKnownAreNull(t *testing.T) {
	got, err := json.Marshal(Numbers{1, math.NaN(), 1234567.8, math.Inf(1), 0.000012345678})
	if want := "[1,null,1.23457e+06,null,1.23457e-05]"; string(got) != want || err != nil {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

func TestCurvesHoldThePercentiles(t *testing.T) {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{Goodput: []metrics.SLO{{Metric: "ttft", Limit: 500}, {Metric: "ttft", Limit: 9000}}}})
	for i := range 1000 {
		c.AddOutcome(metrics.Outcome{Index: i, Success: true, Out: 1, TTFT: float64(i+1) / 1000, Latency: 2})
	}
	charts := distributions([]Run{{Summary: c.Summary(10)}})
	ecdf, curve := named(charts, "ttft-ecdf"), named(charts, "ttft-percentiles")
	if ecdf == nil || curve == nil {
		t.Fatalf("charts %v", charts)
	}
	// numpy.percentile(range(1, 1001), [50, 90, 99])
	for p, want := range map[float64]float64{50: 500.5, 90: 900.1, 99: 990.01} {
		if got := ecdf.Series[0].at(want); math.Abs(got-p) > 1e-9 {
			t.Errorf("ECDF at %g: %g, want %g", want, got, p)
		}
		if got := curve.Series[0].at(-math.Log10(1 - p/100)); math.Abs(got-want) > 1e-9 {
			t.Errorf("P%g is %g, want %g", p, got, want)
		}
	}
	if got := curve.X.Max; math.Abs(got-3) > 1e-9 {
		t.Errorf("the curve of 1000 values goes to %g decades, want 3", got)
	}
	if want := "Fewer than 10 samples lie beyond P99.0. SLO 9000 ms lies beyond the chart."; curve.Note != want {
		t.Errorf("note %q, want %q", curve.Note, want)
	}
	if want := []Limit{{"SLO 500 ms", 500, true}}; !slices.Equal(ecdf.Limits, want) {
		t.Errorf("limits %v, want %v", ecdf.Limits, want)
	}
	if named(charts, "tpot-ecdf") != nil {
		t.Error("there is a chart of a latency without values")
	}
}

func TestCurvesOfFewValues(t *testing.T) {
	for n := 1; n < 30; n++ {
		ps := percents(n)
		if !slices.IsSorted(ps) || ps[0] != 0 || ps[len(ps)-1] != 100 {
			t.Errorf("of %d values: %v", n, ps)
		}
	}
	if got := rest(7); got != "There are only 7 samples." {
		t.Error(got)
	}
}

func TestTimelineHasTheParts(t *testing.T) {
	w := usual
	w.fail = 4
	run := w.run(metrics.Header{})
	keep(run, append(recordsOf(run), record.Record{Phase: record.WarmUp, Times: record.Times{Sent: 1, End: time.Minute}}))
	c := named(singleRequests(run), "timeline")
	var names []string
	for _, s := range c.Series {
		names = append(names, s.Name)
	}
	if want := []string{"queue (client)", "prefill", "decode", "failed"}; !slices.Equal(names, want) {
		t.Fatalf("series %q, want %q", names, want)
	}
	// The second request, due at 100 ms.
	for i, want := range [][3]float64{{0.1, 0.105, 2}, {0.105, 0.155, 2}, {0.155, 0.255, 2}} {
		s := c.Series[i]
		k := slices.Index(s.Y, 2)
		if got := [3]float64{s.X[k], s.To[k], s.Y[k]}; got != want {
			t.Errorf("%s %v, want %v", s.Name, got, want)
		}
	}
	if failed := c.Series[3]; len(failed.X) != 5 || failed.Y[1] != 5 {
		t.Errorf("failed %+v", failed)
	}
}

func TestTimelineOfManyRequestsShowsSome(t *testing.T) {
	w := usual
	w.requests = 1001
	c := named(singleRequests(w.run(metrics.Header{})), "timeline")
	if n := len(c.Series[0].X); n > mostRows || n < mostRows/2 {
		t.Errorf("%d rows", n)
	}
	if thick := c.Series[0].Thick; thick != 4 {
		t.Errorf("rows are %g requests high, want 4", thick)
	}
	if c.Y.Max != 1002 || c.X.Max < 100 {
		t.Errorf("axes end at %g and %g s", c.Y.Max, c.X.Max)
	}
	if want := "Prefill lasts from sending a request to its first token, so it includes the server's queue. The chart shows one in 4 of 1001 requests."; c.Note != want {
		t.Errorf("note %q", c.Note)
	}
}

func TestHistoryFollowsTheRun(t *testing.T) {
	run := usual.run(metrics.Header{})
	running, used := 3.0, 0.25
	run.Summary.Kept.Trace.Samples = append(run.Summary.Kept.Trace.Samples, &samples.Sample{At: 500 * time.Millisecond, Server: &samples.Server{Running: &running, KVCache: &used}})
	charts := overTime([]Run{run})
	tokens := 0.0
	throughput := named(charts, "throughput").Series[0]
	for i := range len(throughput.X) - 1 {
		tokens += throughput.Y[i] * (throughput.X[i+1] - throughput.X[i])
	}
	if math.Abs(tokens-20*11) > 1e-6 {
		t.Errorf("%g tokens under the line, want 220", tokens)
	}
	concurrency := named(charts, "concurrency")
	if len(concurrency.Series) != 2 || !slices.Contains(concurrency.Series[1].Y, 3) {
		t.Errorf("concurrency %+v", concurrency.Series)
	}
	if kv := named(charts, "kv-cache"); kv == nil || !slices.Contains(kv.Series[0].Y, 25) {
		t.Errorf("KV cache %+v", kv)
	}
	if named(charts, "gpu") != nil || named(charts, "preemptions") != nil {
		t.Error("there are charts of what nobody said")
	}
	ttft := named(charts, "ttft").Series[0]
	if got := ttft.X[0]; got != 0.05 {
		t.Errorf("the first slice of 100 ms is shown at %g s, want its middle", got)
	}
	for _, y := range ttft.Y {
		if finite(y) && math.Abs(y-50) > 1e-9 {
			t.Errorf("mean TTFT %g ms, want 50", y)
		}
	}
}

// What the server says is known for the moments at which it was asked, and for nothing
// between but by the line that joins them.
func TestSampledNumbersAreALineAtTheirOwnTimes(t *testing.T) {
	run := usual.run(metrics.Header{})
	ask := func(at time.Duration, running, preempted float64) {
		run.Summary.Kept.Trace.Samples = append(run.Summary.Kept.Trace.Samples, &samples.Sample{At: at, Server: &samples.Server{Running: &running, Preemptions: &preempted}})
	}
	ask(50*time.Millisecond, 3, 7)
	ask(730*time.Millisecond, 5, 7)
	run.Summary.Kept.Trace.Samples = append(run.Summary.Kept.Trace.Samples, &samples.Sample{At: 900 * time.Millisecond, Error: "it did not answer"})
	ask(1010*time.Millisecond, 4, 7)
	s := named(overTime([]Run{run}), "concurrency").Series[1]
	if s.Style != Line || fmt.Sprint(s.X, s.Y) != "[0.05 0.73 0.9 1.01] [3 5 NaN 4]" {
		t.Errorf("%s at %v: %v", s.Style, s.X, s.Y)
	}
	for _, c := range Single(run, 1)[2].Charts {
		if c.Name == "preemptions" {
			t.Error("there is a chart of preemptions that never came")
		}
	}
}

func TestReplicasThatAreAskedInTurnSpeakAtOneMoment(t *testing.T) {
	run := usual.run(metrics.Header{})
	for i, from := range []string{"a", "b", "a", "b"} {
		running := float64(i)
		run.Summary.Kept.Trace.Samples = append(run.Summary.Kept.Trace.Samples, &samples.Sample{From: from, At: time.Duration(100+300*i) * time.Millisecond, Server: &samples.Server{Running: &running}})
	}
	s := named(overTime([]Run{run}), "concurrency").Series[1]
	if fmt.Sprint(s.X, s.Y) != "[0.1 0.7] [1 5]" {
		t.Errorf("at %v: %v", s.X, s.Y)
	}
}

func TestHistoryOfSeveralRunsHasALineForEach(t *testing.T) {
	slow := usual
	slow.ttft *= 4
	slow.requests *= 20
	runs := []Run{usual.run(metrics.Header{Target: "a"}), slow.run(metrics.Header{Target: "b"})}
	Label(runs)
	c := named(overTime(runs), "ttft")
	if len(c.Series) != 2 || c.Series[0].Name != "a" || c.Series[1].Name != "b" || c.Series[1].Y[2] != 200 || c.Note != "In slices of 1s." {
		t.Errorf("series %+v", c.Series)
	}
	first, second := named(overTime(runs), "throughput").Series[0].X, named(overTime(runs), "throughput").Series[1].X
	if first[1] != second[1] {
		t.Errorf("slices of %g and %g s", first[1], second[1])
	}
}

func TestNothingWithoutATrace(t *testing.T) {
	run := usual.run(metrics.Header{})
	run.Summary.Kept.Trace = nil
	if got := append(singleRequests(run), overTime([]Run{run})...); got != nil {
		t.Errorf("charts %v", got)
	}
}

func TestDotsAreInTheOrderOfTime(t *testing.T) {
	w := usual
	w.gap = 7 * time.Millisecond
	s := named(singleRequests(w.run(metrics.Header{})), "itl-points").Series[0]
	if len(s.X) != 20*10 || !slices.IsSorted(s.X) {
		t.Errorf("%d dots at %v", len(s.X), s.X)
	}
}

func TestAxesRunTheWayTheySay(t *testing.T) {
	for _, test := range []struct {
		axis Axis
		v    float64
		want float64
	}{
		{Axis{Min: 0, Max: 4}, 1, 0.25},
		{Axis{Min: 0, Max: 4, Down: true}, 1, 0.75},
		{Axis{Min: 1, Max: 100, Scale: Log}, 10, 0.5},
	} {
		if got := test.axis.place(test.v); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%g is at %g of %+v, want %g", test.v, got, test.axis, test.want)
		}
	}
}

func TestLengthsAreOfCompletedRequests(t *testing.T) {
	w := usual
	w.fail = 2
	run := w.run(metrics.Header{})
	records := recordsOf(run)
	records[1].Tokens.In = 400
	keep(run, records)
	c := named(singleRequests(run), "lengths")
	prompt, output := c.Series[0], c.Series[1]
	if prompt.at(10) != 0 || prompt.at(400) != 100 || output.X[0] != 11 || output.X[len(output.X)-1] != 11 || c.X.Scale != Log {
		t.Errorf("prompt %v %v, output %v", prompt.X, prompt.Y, output.X)
	}
}

func TestLengthsAloneAreThoseOfTheRequests(t *testing.T) {
	run := usual.run(metrics.Header{})
	records := recordsOf(run)
	records[0].Phase, records[0].Tokens.In = record.WarmUp, 400
	keep(run, records)
	want := named(singleRequests(run), "lengths")
	if got := Lengths(run); !cmp.Equal(got, *want) || got.X.Max > 400 {
		t.Errorf("%+v, want %+v", got, want)
	}
	failing := usual
	failing.fail = 1
	if c := Lengths(failing.run(metrics.Header{})); c.Series != nil {
		t.Errorf("of failures alone: %+v", c.Series)
	}
	run.Summary.Kept.Trace = nil
	if c := Lengths(run); c.Series != nil {
		t.Errorf("without a trace: %+v", c.Series)
	}
}

func TestSingleITLsAreMarked(t *testing.T) {
	run := usual.run(metrics.Header{})
	run.ITLMarks = []float64{7.5, 20, 50}
	charts := singleRequests(run)
	c := named(charts, "itl-points")
	if want := []Limit{{Name: "7.5 ms", At: 7.5}, {Name: "20 ms", At: 20}}; !cmp.Equal(c.Limits, want) || c.Note == "" {
		t.Errorf("%+v, note %q", c.Limits, c.Note)
	}
	if c := named(charts, "ttft-points"); c.Limits != nil {
		t.Errorf("TTFTs are marked: %+v", c.Limits)
	}
}

func TestLimitsThatFitNoAxisAreNamed(t *testing.T) {
	for _, at := range []float64{0, -1, 1e9, math.Inf(1), math.NaN()} {
		c := Chart{Y: Axis{Scale: Log}, Series: []Series{{X: Numbers{1, 2}, Y: Numbers{1, 1000}}}, Limits: []Limit{{"SLO", at, false}}}
		c.fit(true)
		if c.Limits != nil || c.Note != "SLO lies beyond the chart." || c.Y.Min < 0.5 || c.Y.Max > 2000 {
			t.Errorf("%g: limits %v, note %q, axis from %g to %g", at, c.Limits, c.Note, c.Y.Min, c.Y.Max)
		}
	}
}
