package stream

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

// logged is what HdrHistogram's own reader finds in an interval log: the values of
// each line, as "tag start+length: n, max", times in ms.
func logged(t *testing.T, log []byte) (lines []string, counts map[string]int64) {
	t.Helper()
	counts = map[string]int64{}
	reader := hdrhistogram.NewHistogramLogReader(bytes.NewReader(log))
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return lines, counts
		}
		lines = append(lines, fmt.Sprintf("%s %d+%d: %d, %.3g s", h.Tag(), h.StartTimeMs(), h.EndTimeMs()-h.StartTimeMs(), h.TotalCount(), time.Duration(h.Max()).Seconds()))
		counts[h.Tag()] += h.TotalCount()
	}
}

// ended is a request of two tokens that was sent at once and ended at a time.
func ended(run string, at time.Duration) *record.Record {
	r := &record.Record{Run: run, Tokens: record.Tokens{Out: 2}, Times: record.Times{Last: at, End: at}}
	r.Answer.Chunks.Append(at / 2)
	r.Answer.Chunks.Append(at)
	return r
}

func TestIntervalLogHasASecondALine(t *testing.T) {
	const ms = time.Millisecond
	epoch := time.UnixMilli(1_700_000_000_250)
	var b bytes.Buffer
	log := NewIntervalLog(&b)
	for _, h := range []*metrics.Header{{Run: "1", Target: "a", Epoch: epoch}, {Run: "2", Target: "b", Solo: true, Epoch: epoch}} {
		if err := log.Begin(h); err != nil {
			t.Fatal(err)
		}
	}
	late, warm, failed, refused := ended("2", 900*ms), ended("1", 2*time.Second), ended("1", 2*time.Second), ended("1", 9*time.Hour)
	warm.Phase, failed.Result.Class = record.WarmUp, record.Timeout
	refused.Times.Sent = -time.Hour
	for _, r := range []*record.Record{ended("1", 100*ms), ended("2", 400*ms), ended("1", 999*ms), ended("1", time.Second), late, warm, failed, refused} {
		if err := log.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Begin(&metrics.Header{Run: "3", Epoch: epoch.Add(10 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := log.Write(ended("3", 1500*ms)); err != nil {
		t.Fatal(err)
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	lines, _ := logged(t, b.Bytes())
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return !bytes.Contains([]byte(line), []byte("ttft ")) && !bytes.Contains([]byte(line), []byte("e2el "))
	})
	want := []string{
		"a.ttft 1700000000250+1000: 2, 0.5 s", "a.e2el 1700000000250+1000: 2, 0.999 s",
		"b.alone.ttft 1700000000250+1000: 1, 0.2 s", "b.alone.e2el 1700000000250+1000: 1, 0.4 s",
		"a.ttft 1700000001250+1000: 1, 0.5 s", "a.e2el 1700000001250+1000: 1, 1 s",
		"b.alone.ttft 1700000001250+1000: 1, 0.45 s", "b.alone.e2el 1700000001250+1000: 1, 0.9 s",
		"a.ttft 1700032400250+0: 1, 1.98e+04 s", "a.e2el 1700032400250+0: 1, 2.88e+04 s",
		"ttft 1700036001250+500: 1, 0.75 s", "e2el 1700036001250+500: 1, 1.5 s",
	}
	for i := range max(len(lines), len(want)) {
		if i >= len(lines) || i >= len(want) || lines[i] != want[i] {
			t.Fatalf("got\n%q\nwant\n%q", lines, want)
		}
	}
}

func TestIntervalLogHasTheValuesOfTheSummary(t *testing.T) {
	h := &metrics.Header{Run: "r", Epoch: time.UnixMilli(1_700_000_000_999)}
	c := aspect.Collector(h)
	var b bytes.Buffer
	log := NewIntervalLog(&b)
	if err := log.Begin(h); err != nil {
		t.Fatal(err)
	}
	all := requests(300)
	slices.SortFunc(all, func(a, b *record.Record) int { return int(a.Times.End - b.Times.End) })
	for i, r := range all {
		r.Run = "r"
		switch i % 10 {
		case 3:
			r.Phase = record.Drain
		case 5:
			r.Phase = record.WarmUp
		case 7:
			r.Result.Class = record.Status
		}
		c.Add(r)
		if err := log.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	s := c.Summary(10)
	_, counts := logged(t, b.Bytes())
	for name, d := range map[string]*metrics.Distribution{"ttft": &s.TTFT, "tpot": &s.TPOT, "itl": &s.ITL, "e2el": &s.E2EL, "queue": &s.Client.Queue, "lag": &s.Client.Lag} {
		if d.Len() == 0 || counts[name] != int64(d.Len()) {
			t.Errorf("%s: %d values in the log, %d in the summary", name, counts[name], d.Len())
		}
	}
}

// An interval takes the consumer of records this long.
func BenchmarkIntervalLog(b *testing.B) {
	h := &metrics.Header{Run: "r", Epoch: time.UnixMilli(0)}
	log := NewIntervalLog(new(bytes.Buffer))
	if err := log.Begin(h); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := log.Write(ended("r", time.Duration(i)*time.Second)); err != nil {
			b.Fatal(err)
		}
	}
}
