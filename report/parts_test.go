package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/slicing"
	"github.com/servebench/servebench/metrics/steady"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/reporttest"
)

// loaded is a run of so many requests, one each gap, whose chunks come every
// step, with a Trace.
func loaded(h metrics.Header, n int, gap, step time.Duration) *metrics.Summary {
	h.Config.Metrics, h.Config.Percentiles, h.Config.Dataset = []string{"ttft", "tpot", "itl"}, []float64{99}, "random"
	c := aspect.Collector(&h)
	c.Keep.Trace = true
	var end time.Duration
	for i := range n {
		r := &record.Record{Index: i, Times: record.Times{Due: h.Delay + time.Duration(i)*gap}, Tokens: record.Tokens{In: 100, Out: 10}}
		r.Times.Slot, r.Times.Sent = r.Times.Due, r.Times.Due
		for j := range 10 {
			r.Answer.Chunks.Append(r.Times.Sent + time.Duration(3+j)*step + time.Duration(i%5)*ms)
		}
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		end = max(end, r.Times.End)
		c.Add(r)
	}
	s := c.Summary((end - h.Delay).Seconds())
	trust.Judge(s)
	return s
}

// two are targets at 20 req/s and in slots, alone and then together, where each
// takes twice as long; b begins a second after a.
func two(solo bool) *targets.Group {
	paced, slots := metrics.Config{RequestRate: 20, NumPrompts: 120}, metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 4, NumPrompts: 80}
	g := &targets.Group{ID: "g", Shared: []*metrics.Summary{
		loaded(metrics.Header{Target: "a", Group: "g", Config: paced}, 120, 50*ms, 40*ms),
		loaded(metrics.Header{Target: "b-with-a-name", Group: "g", Delay: time.Second, Config: slots}, 80, 100*ms, 20*ms),
	}}
	if solo {
		g.Solo = []*metrics.Summary{
			loaded(metrics.Header{Target: "a", Group: "g", Solo: true, Config: paced}, 120, 50*ms, 20*ms),
			loaded(metrics.Header{Target: "b-with-a-name", Group: "g", Solo: true, Config: slots}, 80, 50*ms, 10*ms),
		}
	}
	return g
}

// narrow checks that text fits a terminal of 120 columns.
func narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestGroupsAreAsInTheGoldenFiles(t *testing.T) {
	apart := two(true)
	apart.Shared[1] = loaded(metrics.Header{Target: "b", Group: "g", Delay: time.Hour, Config: metrics.Config{RequestRate: 1}}, 3, ms, ms)
	failed := two(true)
	failed.Shared[1] = summed(failed.Shared[1], func(r *record.Record) { r.Result.Class, r.Result.Error = record.Status, "no" })
	for name, g := range map[string]*targets.Group{"group": two(true), "group-shared": two(false), "group-apart": apart, "group-failed": failed} {
		var b bytes.Buffer
		if err := Group(&b, g); err != nil {
			t.Fatal(err)
		}
		if err := GroupBlocks(&b, g, vllm.Version{}); err != nil {
			t.Fatal(err)
		}
		narrow(t, b.String())
		reporttest.Golden(t, *update, name+".txt", b.Bytes())
		b.Reset()
		if err := GroupJSON(&b, g, vllm.Version{}); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, *update, name+".json", indented(t, b.Bytes()))
	}
}

// summed sums the records of s up again, after a change to each.
func summed(s *metrics.Summary, change func(*record.Record)) *metrics.Summary {
	c := aspect.Collector(s.Header)
	c.Keep.Trace = true
	for r := range s.Measured() {
		change(r)
		c.Add(r)
	}
	return c.Summary(s.When.Seconds)
}

func indented(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

func TestATargetAmongNoOthersIsNoGroup(t *testing.T) {
	g := two(true)
	g.Shared = g.Shared[:1]
	var b bytes.Buffer
	if err := Group(&b, g); err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := GroupJSON(&b, g, vllm.Version{}); err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// parted is a run with its steady state and slices of 2 s, of which the server
// told something in the first.
func parted(t *testing.T) *metrics.Summary {
	t.Helper()
	s := two(false).Shared[0]
	w, ok := steady.State(s)
	if !ok {
		t.Fatal("no steady state")
	}
	s.Parts.Window = s.Within(w)
	s.Parts.Window.Parts.Of.Steady = true
	known := func(v float64) *float64 { return &v }
	s.Kept.Trace.Samples = []*samples.Sample{
		{At: 0, Server: &samples.Server{Running: known(3), KVCache: known(0.125), Preemptions: known(10)}},
		{At: time.Second, Server: &samples.Server{Running: known(4), KVCache: known(0.5), Preemptions: known(12)},
			GPUs: []samples.GPU{{MemoryUsed: known(40000), Utilization: known(0.97), Power: known(312.5)}}},
	}
	var err error
	if s.Parts.Slices, err = slicing.Slice(s, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPartsAreAsInTheGoldenFiles(t *testing.T) {
	s := parted(t)
	var b bytes.Buffer
	if err := Window(&b, s, vllm.Version{}); err != nil {
		t.Fatal(err)
	}
	if err := writeSlices(&b, s); err != nil {
		t.Fatal(err)
	}
	narrow(t, b.String())
	reporttest.Golden(t, *update, "parts.txt", b.Bytes())

	var with, without bytes.Buffer
	if err := JSON(&with, s, vllm.Version{}); err != nil {
		t.Fatal(err)
	}
	s.Parts.Window, s.Parts.Slices = nil, nil
	if err := JSON(&without, s, vllm.Version{}); err != nil {
		t.Fatal(err)
	}
	parts, found := bytes.CutPrefix(with.Bytes(), bytes.TrimSuffix(without.Bytes(), []byte("}")))
	if !found {
		t.Fatalf("the rest of the file is another:\n%s\n%s", with.Bytes(), without.Bytes())
	}
	reporttest.Golden(t, *update, "parts.json", indented(t, append([]byte("{"), bytes.TrimPrefix(parts, []byte(", "))...)))
	again, err := stream.Read(&with, metrics.Ask{})
	if err != nil || len(again) != 1 {
		t.Errorf("read back: %v, %v", again, err)
	}
}

func TestWithoutPartsNothingIsWritten(t *testing.T) {
	var b bytes.Buffer
	s := two(false).Shared[0]
	if err := Window(&b, s, vllm.Version{}); err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := writeSlices(&b, s); err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestAWindowIsCutToTheMeasuredPart(t *testing.T) {
	const s = time.Second
	c := aspect.Collector(&metrics.Header{Delay: 2 * s})
	c.Keep.Trace = true
	run := c.Summary(10)
	window := func(from, to time.Duration) metrics.Window { return metrics.Window{From: from, To: to} }
	for _, row := range []struct {
		ask  WindowAsk
		want metrics.Window
	}{
		{WindowAsk{Window: window(s, 5*s)}, window(2*s, 5*s)},
		{WindowAsk{Window: window(0, 5*s)}, window(2*s, 5*s)},
		{WindowAsk{Window: window(5*s, 0), Open: true}, window(5*s, 12*s)},
		{WindowAsk{Window: window(5*s, 9999*s)}, window(5*s, 12*s)},
	} {
		if got, err := row.ask.of(run); err != nil || got != row.want {
			t.Errorf("%+v: %v, %v; want %v", row.ask, got, err, row.want)
		}
	}
	for _, row := range []struct {
		ask  WindowAsk
		want string
	}{
		{WindowAsk{Window: window(12*s, 0), Open: true}, "the measured part lasted from 2.00 to 12.00 s"},
		{WindowAsk{Window: window(0, s)}, "from 2.00 to 12.00 s"},
		{WindowAsk{Steady: true}, "no steady state"},
	} {
		if got, err := row.ask.of(run); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, %v; want %q", row.ask, got, err, row.want)
		}
	}
}

// An answer that came whole has no first chunk, so no latency of it counts unless it is wholly inside.
func TestAWindowOfWholeAnswersHasNoTTFT(t *testing.T) {
	s := parted(t)
	s.Parts.Window.Header.Config.Whole = true
	var b bytes.Buffer
	if err := Window(&b, s, vllm.Version{}); err != nil || !strings.Contains(b.String(), "19 across an edge, in no latency\n") {
		t.Errorf("%v, %.200s", err, b.String())
	}
}
