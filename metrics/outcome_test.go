package metrics

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

func TestSingleRequestsAreLetGoWhenTheyTakeTooMuch(t *testing.T) {
	whole, bounded := NewCollector(&Header{}), NewCollector(&Header{})
	for _, c := range []*Collector{whole, bounded} {
		c.Keep.Trace, c.Keep.Outcomes = true, true
	}
	records := requests(500)
	for _, r := range records {
		whole.Add(r)
	}
	bounded.Keep.Most = whole.Keep.bytes / 2
	for i, r := range records {
		bounded.Add(r)
		bounded.AddSample(&samples.Sample{At: r.Times.Sent})
		if s := bounded.Summary(1); i == 100 && (s.Kept.Trace.Records.Len() != 101 || len(s.Kept.Trace.Samples) != 101 || len(s.Kept.Outcomes) != 101) {
			t.Errorf("after 101 requests %d records, %d samples and %d outcomes are there", s.Kept.Trace.Records.Len(), len(s.Kept.Trace.Samples), len(s.Kept.Outcomes))
		}
	}
	want, got := whole.Summary(12), bounded.Summary(12)
	if got.Kept.Trace != nil || got.Kept.Outcomes != nil || bounded.Keep.trace.Records.Len() > 0 || bounded.Keep.outcomes != nil {
		t.Error("something is kept")
	}
	if len(want.Ending.Warnings) != 0 || len(got.Ending.Warnings) != 1 || !strings.Contains(got.Ending.Warnings[0], "and was dropped: the run has no windows") {
		t.Errorf("warnings %q and %q", want.Ending.Warnings, got.Ending.Warnings)
	}
	if got.Completed != want.Completed || got.E2EL.Percentile(99) != want.E2EL.Percentile(99) || want.Kept.Trace.Records.Len() != 500 || len(want.Kept.Outcomes) != 500 {
		t.Errorf("%d completed, P99 %v; %d and %v of all", got.Completed, got.E2EL.Percentile(99), want.Completed, want.E2EL.Percentile(99))
	}
}

// Past a million requests their latencies are approximate, and those of chunks are
// not yet.
func TestRequestsAreKnownExactlyUpToAMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("a million requests: in go test without -short")
	}
	c := NewCollector(&Header{}, endKind)
	r := arrived(record.Record{Tokens: record.Tokens{Out: 2}}, 100, 200)
	for range RequestCap {
		c.Add(r)
	}
	if s := c.Summary(1); len(s.Ending.Warnings) != 0 {
		t.Errorf("at a million: %q", s.Ending.Warnings)
	}
	c.Add(r)
	s := c.Summary(1)
	if !s.TTFT.Approximate() || !View[endTimes](s).ends.Approximate() || s.ITL.Approximate() || c.timeline.Answers != nil || !folded(c) {
		t.Errorf("past a million: %q", s.Ending.Warnings)
	}
}

// What comes from a histogram is within a thousandth of what the values give.
func TestHistogramIsRightToThreeDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var exact, rough Distribution
	rough.limit = 1
	for range 200_000 {
		v := 0.02 * math.Exp(random.NormFloat64())
		exact.Add(v)
		rough.Add(v)
	}
	if exact.Approximate() || !rough.Approximate() {
		t.Fatal("nothing to compare")
	}
	for what, of := range map[string]func(*Distribution) float64{
		"mean": (*Distribution).Mean, "std": (*Distribution).Std, "median": (*Distribution).Median,
		"P1":  func(d *Distribution) float64 { return d.Percentile(1) },
		"P90": func(d *Distribution) float64 { return d.Percentile(90) }, "P99": func(d *Distribution) float64 { return d.Percentile(99) },
		"P99.9": func(d *Distribution) float64 { return d.Percentile(99.9) },
	} {
		if want, got := of(&exact), of(&rough); math.Abs(got-want) > want/1000 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	// Under a millisecond it is half a microsecond that counts.
	for _, v := range []time.Duration{3 * time.Microsecond, 40 * time.Microsecond, 700 * time.Microsecond} {
		rough = Distribution{limit: 1}
		rough.Add(v.Seconds())
		rough.Add(v.Seconds())
		if got := rough.Median() * 1e6; math.Abs(got-float64(v)) > 512 {
			t.Errorf("%v ns, want %v", got, v)
		}
	}
}

// folded says whether the collector has dropped the times of single requests in flight.
func folded(c *Collector) bool {
	return !reflect.ValueOf(&c.witness.inFlight).Elem().FieldByName("folded").IsNil()
}

// thoughtful is an answer whose reasoning begins after 100 ms, and its output after so many; 0 for an
// answer of reasoning alone.
func thoughtful(i int, output time.Duration) *record.Record {
	r := arrived(record.Record{Run: "r", Index: i, Tokens: record.Tokens{In: 5, Out: 10, OutReasoned: 7}, Answer: record.Answer{Reasoned: true}}, 100, 1000)
	if output > 0 {
		r.Times.FirstOutput = output * msec
	}
	return r
}

// plainly is an answer without reasoning, whose text begins after so many milliseconds.
func plainly(i int, output float64) *record.Record {
	return arrived(record.Record{Run: "r", Index: i, Tokens: record.Tokens{In: 5, Out: 10}}, output, 1000)
}

func TestGoodputLimitsTTFO(t *testing.T) {
	h := &Header{Config: Config{Goodput: []SLO{{Metric: "ttfo", Limit: 100}}}}
	c := NewCollector(h)
	for i, r := range []*record.Record{plainly(0, 60), plainly(1, 100), plainly(2, 101), thoughtful(3, 100), thoughtful(4, 400), thoughtful(5, 0)} {
		r.Index = i
		c.Add(r)
	}
	if s := c.Summary(1); s.Rates.Goodput != 3 {
		t.Errorf("%v good requests a second, want 3", s.Rates.Goodput)
	}
	if o := OutcomeOf(thoughtful(0, 0)); !math.IsInf(o.TTFO, 1) {
		t.Errorf("an answer without output has a TTFO of %v s", o.TTFO)
	}
}
