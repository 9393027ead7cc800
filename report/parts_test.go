package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/slicing"
	"github.com/servebench/servebench/metrics/steady"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/reporttest"
)

// parted is a run with its steady state and slices of 2 s, of which the server
// told something in the first.
func parted(t *testing.T) *metrics.Summary {
	t.Helper()
	s := reporttest.Pair(false).Shared[0]
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
	reporttest.Narrow(t, b.String())
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
	reporttest.GoldenJSON(t, *update, "parts.json", append([]byte("{"), bytes.TrimPrefix(parts, []byte(", "))...))
	again, err := stream.Read(&with, metrics.Ask{})
	if err != nil || len(again) != 1 {
		t.Errorf("read back: %v, %v", again, err)
	}
}

func TestWithoutPartsNothingIsWritten(t *testing.T) {
	var b bytes.Buffer
	s := reporttest.Pair(false).Shared[0]
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
