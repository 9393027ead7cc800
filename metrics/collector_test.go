package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// requests are made-up records, sent over ten seconds.
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

func TestSummaryOfRecordsIsThatOfTheirTimes(t *testing.T) {
	r := &record.Record{Tokens: record.Tokens{In: 7, Out: 3}, Times: record.Times{Due: 1 * time.Second, Slot: 2 * time.Second, Sent: 2500 * time.Millisecond, Last: 4 * time.Second}}
	for _, at := range []time.Duration{3, 3, 4} {
		r.Answer.Chunks.Append(at * time.Second)
	}
	c := NewCollector(&Header{Config: Config{Goodput: []SLO{{"ttft", 500}, {"tpot", 500}}}})
	c.Add(r)
	s := c.Summary(10)
	got := map[string]float64{
		"ttft": s.TTFT.Mean(), "tpot": s.TPOT.Mean(), "itl": s.ITL.Mean(), "e2el": s.E2EL.Mean(),
		"queue": s.Client.Queue.Mean(), "lag": s.Client.Lag.Mean(), "queued e2el": s.Client.QueuedE2EL.Mean(),
		"request throughput": s.Rates.Requests, "output throughput": s.Rates.Output,
		"total throughput": s.Rates.Total, "goodput": s.Rates.Goodput, "peak output": s.Rates.PeakOutput,
		"peak concurrent": float64(s.Rates.PeakConcurrent),
	}
	want := map[string]float64{
		"ttft": 500, "tpot": 500, "itl": 500, "e2el": 1500, "queue": 1000, "lag": 500, "queued e2el": 2500,
		"request throughput": 0.1, "output throughput": 0.3, "total throughput": 1, "goodput": 0.1,
		"peak output": 2, "peak concurrent": 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestFailedRequestsEnterNoLatency(t *testing.T) {
	c := NewCollector(&Header{})
	for i := 20; i > 0; i-- {
		r := &record.Record{Index: i, Result: record.Result{Class: []record.Class{record.Status, record.Cancelled}[i%2], Error: fmt.Sprintf("no %d", i/2)}, Tokens: record.Tokens{In: 5, Out: 5}, Times: record.Times{Last: time.Second}}
		r.Answer.Chunks.Append(time.Millisecond)
		r.Answer.Chunks.Append(time.Second)
		c.Add(r)
	}
	s := c.Summary(1)
	if s.Completed != 0 || s.Failed != 20 || s.Totals.Input+s.Totals.Output != 0 {
		t.Errorf("%d completed, %d failed, %d and %d tokens", s.Completed, s.Failed, s.Totals.Input, s.Totals.Output)
	}
	if n := s.TTFT.Len() + s.TPOT.Len() + s.ITL.Len() + s.E2EL.Len() + s.Client.Queue.Len() + s.Client.QueuedE2EL.Len(); n != 0 {
		t.Errorf("%d latencies", n)
	}
	if s.Client.Lag.Len() != 20 {
		t.Errorf("%d of lag", s.Client.Lag.Len())
	}
	if s.Printed.Errors["no 3"] != 2 {
		t.Errorf("errors %v", s.Printed.Errors)
	}
	want := []string{"no 0", "no 1", "no 1", "no 2", "no 2", "no 3", "no 3", "no 4", "no 4", "no 5"}
	if !slices.Equal(s.Printed.FirstErrors, want) {
		t.Errorf("first errors %q, want %q", s.Printed.FirstErrors, want)
	}
}

func TestErrorMessagesAreBounded(t *testing.T) {
	c := NewCollector(&Header{})
	for i := range 3000 {
		c.Add(&record.Record{Index: i, Result: record.Result{Class: record.Connect, Error: fmt.Sprint(i)}})
	}
	if s := c.Summary(1); len(s.Printed.Errors) != 1001 || s.Printed.Errors["(other messages)"] != 2000 {
		t.Errorf("%d messages, %d others", len(s.Printed.Errors), s.Printed.Errors["(other messages)"])
	}
}

func TestWarmUpIsLeftOutAndDrainIsNotOurDelay(t *testing.T) {
	records := requests(3)
	records[0].Phase, records[1].Phase = record.WarmUp, record.Drain
	c := NewCollector(&Header{})
	for _, r := range records {
		c.Add(r)
	}
	if s := c.Summary(1); s.Completed != 2 || s.TTFT.Len() != 2 || s.Client.Queue.Len() != 2 || s.Client.Lag.Len() != 1 {
		t.Errorf("%d completed, %d, %d and %d values", s.Completed, s.TTFT.Len(), s.Client.Queue.Len(), s.Client.Lag.Len())
	}
}

func TestPastTheCapNumbersAreApproximate(t *testing.T) {
	exact, capped := NewCollector(&Header{}), NewCollector(&Header{})
	capped.Cap = 100
	for _, r := range requests(500) {
		exact.Add(r)
		capped.Add(r)
	}
	want, got := exact.Summary(12), capped.Summary(12)
	if len(want.Ending.Warnings) != 0 || len(got.Ending.Warnings) != 1 ||
		!strings.HasSuffix(got.Ending.Warnings[0], ": ttft, tpot, itl, e2el, client_queue_time, e2el_including_client_queue, peak output token throughput, peak concurrent requests") {
		t.Errorf("warnings %q and %q", want.Ending.Warnings, got.Ending.Warnings)
	}
	for _, m := range Metrics {
		w, g := m.Of(want), m.Of(got)
		if w.Approximate() || !g.Approximate() || len(g.exact.values) != 0 || g.Len() != w.Len() {
			t.Errorf("%s: %d exact values of %d, approximate: %v", m.Name, len(g.exact.values), g.Len(), g.Approximate())
		}
		for what, pair := range map[string][2]float64{
			"mean": {w.Mean(), g.Mean()}, "std": {w.Std(), g.Std()},
			"median": {w.Median(), g.Median()}, "P99": {w.Percentile(99), g.Percentile(99)},
		} {
			if math.Abs(pair[0]-pair[1]) > 0.002*pair[0] {
				t.Errorf("%s of %s is %v, want about %v", what, m.Name, pair[1], pair[0])
			}
		}
	}
	if math.Abs(got.Rates.PeakOutput-want.Rates.PeakOutput) > 0.2*want.Rates.PeakOutput || len(capped.timeline.Answers) > 0 {
		t.Errorf("peak %v, want about %v; %d answers", got.Rates.PeakOutput, want.Rates.PeakOutput, len(capped.timeline.Answers))
	}
}

func TestSummaryIsNotChangedByLaterRecords(t *testing.T) {
	c := NewCollector(&Header{})
	c.Keep.Outcomes = true
	records := requests(20)
	slices.Reverse(records)
	for _, r := range records[:10] {
		c.Add(r)
	}
	s := c.Summary(5)
	before := s.ITL.Percentile(90)
	for _, r := range records[10:14] {
		c.Add(r)
	}
	c.Summary(6)
	if s.Kept.Outcomes[0].Index != 10 || s.Kept.Outcomes[9].Index != 19 {
		t.Errorf("outcomes from %d to %d", s.Kept.Outcomes[0].Index, s.Kept.Outcomes[9].Index)
	}
	if s.Completed != 10 || s.ITL.Percentile(90) != before || len(s.TTFT.exact.values) != 10 {
		t.Errorf("%d completed, P90 %v, was %v", s.Completed, s.ITL.Percentile(90), before)
	}
}

func TestValuesOutOfRangeAreClampedAndCounted(t *testing.T) {
	var d Distribution
	for _, v := range []float64{-1, 0, 1e-9, 3600, 1e9, math.Inf(1), math.NaN()} {
		d.Add(v)
	}
	if d.Len() != 7 || d.clamped != 4 {
		t.Errorf("%d values, %d clamped", d.Len(), d.clamped)
	}
}

func TestStatisticsOfNoValuesAreNought(t *testing.T) {
	var d Distribution
	if d.Mean() != 0 || d.Median() != 0 || d.Std() != 0 || d.Percentile(99) != 0 || d.Len() != 0 {
		t.Errorf("mean %v", d.Mean())
	}
}

func TestWithoutDurationThereAreNoRates(t *testing.T) {
	s := NewCollector(&Header{}).Summary(0)
	if !math.IsNaN(s.Rates.Requests) || !math.IsNaN(s.Rates.Goodput) {
		t.Errorf("%v requests/s", s.Rates.Requests)
	}
}

func TestNonsensicalTimesTakeNoMemory(t *testing.T) {
	c := NewCollector(&Header{})
	for _, start := range []float64{0, 1e300, math.Inf(1), math.NaN(), -1e300} {
		c.AddOutcome(Outcome{Success: true, Out: 2, Start: start, TTFT: 1, ITL: []float64{1e300, -1e300}, Latency: 2})
	}
	if s := c.Summary(1); s.Completed != 5 {
		t.Errorf("%d completed", s.Completed)
	}
}

func TestFloatsAreWrittenAsPythonDoes(t *testing.T) {
	for v, want := range map[float64]string{
		20: "20.0", 0: "0.0", 0.1: "0.1", 1e-9: "1e-09", 1e-4: "0.0001", 1.5e-5: "1.5e-05", 1e15: "1000000000000000.0",
		1e16: "1e+16", 1.25e300: "1.25e+300", math.Inf(1): "inf", math.Inf(-1): "-inf", 74.78065283346082: "74.78065283346082",
	} {
		if got := FormatFloat(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	for p, want := range map[float64]string{50: "50", 99.9: "99.9", 0: "0", 100: "100"} {
		if got := FormatPercentile(p); got != want {
			t.Errorf("P%s, want P%s", got, want)
		}
	}
}

func TestARequestThatIsLongerThanTheCapIsCounted(t *testing.T) {
	c := NewCollector(&Header{})
	c.Cap = 1
	c.Add(arrived(record.Record{Times: record.Times{Sent: time.Second}, Tokens: record.Tokens{Out: 4}}, 1100, 1200, 1300, 1400))
	if s := c.Summary(2); s.Rates.PeakOutput != 4 || s.Rates.PeakConcurrent != 1 {
		t.Errorf("peaks %v and %d, want 4 and 1", s.Rates.PeakOutput, s.Rates.PeakConcurrent)
	}
}

func TestCondensedSummaryTellsTheSame(t *testing.T) {
	c := NewCollector(&Header{Config: Config{Percentiles: []float64{50, 99.9}}}, endKind)
	c.Keep.Trace, c.Keep.Outcomes = true, true
	for _, r := range requests(300) {
		c.Add(r)
	}
	want, got := c.Summary(12), c.Summary(12)
	ends := &View[endTimes](got).ends
	mean := ends.Mean()
	got.Condense()
	if got.Kept.Trace != nil || got.Kept.Outcomes != nil || ends.exact.values != nil || ends.Mean() != mean {
		t.Error("something is kept, or lost")
	}
	for _, m := range append(Metrics, Latency{Name: "lag", Of: func(s *Summary) *Distribution { return &s.Client.Lag }}) {
		w, g := m.Of(want), m.Of(got)
		if g.exact.values != nil || g.exact.sorted != nil || g.Approximate() || g.Len() != w.Len() {
			t.Errorf("%s: %d values, %d kept", m.Name, g.Len(), len(g.exact.values))
		}
		if g.Mean() != w.Mean() || g.Std() != w.Std() || g.Median() != w.Median() || g.Percentile(50) != w.Percentile(50) ||
			g.Percentile(99) != w.Percentile(99) || g.Percentile(99.9) != w.Percentile(99.9) || g.Mean() == 0 {
			t.Errorf("%s: mean %v, P99 %v; want %v, %v", m.Name, g.Mean(), g.Percentile(99), w.Mean(), w.Percentile(99))
		}
	}
}

// RTFx is vLLM's: seconds of sound of the completed requests, a second.
func TestWhatCompletedRequestsCarriedIsAddedUp(t *testing.T) {
	carrying := func(i int, p *record.Payload, class record.Class) *record.Record {
		r := arrived(record.Record{Index: i, Payload: p, Tokens: record.Tokens{Out: 1}, Result: record.Result{Class: class}}, 1000)
		r.Times.End = r.Times.Last
		return r
	}
	speech := record.Payload{Bytes: 100, Images: 2, Videos: 1, Inputs: 3, Audio: 2.5}
	records := []*record.Record{
		carrying(0, &speech, record.OK), carrying(1, nil, record.OK), carrying(2, &speech, record.OK), carrying(3, &record.Payload{Bytes: 7, Audio: 9}, record.Status),
	}
	want := record.Payload{Bytes: 200, Images: 4, Videos: 2, Inputs: 6, Audio: 5}
	whole := bounded(records, 3, 0)
	if s := whole.Summary(2); s.Rates.RTFx != 0 {
		t.Errorf("RTFx of a chat with sounds: %g", s.Rates.RTFx)
	}
	whole.header.Config.Traits.Spoken = true
	whole.Keep.Trace = true
	s := whole.Summary(2)
	if s.Totals.Carried != want || s.Rates.RTFx != 2.5 {
		t.Errorf("%+v, RTFx %g", s.Totals.Carried, s.Rates.RTFx)
	}
	if part := traced(Config{}, 10, records...).Within(Window{0, 10 * time.Second}); part.Totals.Carried != want {
		t.Errorf("of a window: %+v", part.Totals.Carried)
	}
	crossed := traced(Config{}, 10, records...).Within(Window{500 * time.Millisecond, 10 * time.Second})
	if crossed.Totals.Carried != want || crossed.Parts.Of.Crossing == 0 {
		t.Errorf("of a window whose edge they cross: %+v", crossed.Totals.Carried)
	}
	if text := bounded(records[1:2], 1, 0).Summary(0); text.Rates.RTFx != 0 {
		t.Errorf("RTFx of text: %g", text.Rates.RTFx)
	}
}
