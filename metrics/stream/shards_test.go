package stream

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/burst"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// A fleet is how the shards of a run are written in a test.
type fleet struct {
	n       int
	startAt bool
	change  func(h *metrics.Header, sw *Writer) // may be nil
}

// shardHeader is that of a shard whose clock and start are its own.
func (f fleet) header(shard int) *metrics.Header {
	h := testHeader("r")
	h.Config.IgnoreEOS = true
	h.Shard, h.Shards, h.Host = shard, f.n, fmt.Sprintf("n%d", shard/2)
	h.Config.RequestRate, h.Config.RampUp = 40, nil
	zero := h.Epoch
	ahead := time.Duration(shard*shard)*1_000_003*time.Microsecond - 700*msec
	late := time.Duration(shard*3%4) * 1_700_001
	h.ClockOffset, h.ClockError = ahead, 2*msec
	h.Epoch = zero.Add(late + ahead)
	if f.startAt {
		h.StartAt = zero.Add(-msec)
	}
	return h
}

// write gives each shard its part of the records, which are on the clock of the run,
// as they would be with every shard in time.
func (f fleet) write(t *testing.T, records []*record.Record) [][]byte {
	t.Helper()
	var shards [][]byte
	for shard := range f.n {
		var buf bytes.Buffer
		h, sw := f.header(shard), NewWriter(&buf)
		sw.MaxLine = PipeLine
		if f.change != nil {
			f.change(h, sw)
		}
		var own []*record.Record
		for i, r := range records {
			if i%f.n == shard {
				copied := *r
				own = append(own, &copied)
			}
		}
		judged(t, sw, h, shard, own...)
		shards = append(shards, buf.Bytes())
	}
	return shards
}

// mixed puts the lines of streams between each other at random, each stream's in order.
func mixed(rng *rand.Rand, streams [][]byte) []byte {
	var lines [][][]byte
	left := 0
	for _, s := range streams {
		lines = append(lines, slices.Collect(bytes.Lines(s)))
		left += len(lines[len(lines)-1])
	}
	var out []byte
	for ; left > 0; left-- {
		i := rng.IntN(len(lines))
		for len(lines[i]) == 0 {
			i = (i + 1) % len(lines)
		}
		out = append(out, lines[i][0]...)
		lines[i] = lines[i][1:]
	}
	return out
}

// load are requests of all sorts on the run's clock.
func load(n int) []*record.Record {
	records := requests(n)
	for i, r := range records {
		r.Run = "r"
		switch {
		case i%17 == 3:
			records[i] = &record.Record{Run: "r", Index: r.Index, Attempts: 3 + i%2, Reconnects: i % 2, Times: record.Times{Due: r.Times.Due, Slot: r.Times.Slot, Sent: r.Times.Sent, End: r.Times.Sent + 5*msec}, Result: record.Result{Class: record.Status, Status: 500 + i%2, Error: fmt.Sprint("no ", i%3)}}
			continue
		case i%11 == 5:
			r.Phase = record.WarmUp
		case i%13 == 7:
			r.Turn = 1
		}
		r.Times.Wrote, r.Times.FirstContent, r.Times.End = r.Times.Sent+msec/3, r.Answer.Chunks.First(), r.Times.Last+msec/2
		r.Tokens.OutAsked, r.Answer.Finish = r.Tokens.Out+i%3-1, []string{"length", "stop", ""}[i%3]
		r.Conn, r.Answer.MaxAge = record.Conn{New: i%5 == 0, Connect: msec}, msec/7
	}
	return records
}

// everything compares all that a Summary holds.
var everything = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmpopts.EquateNaNs(),
	cmp.Comparer(func(a, b *metrics.Kind) bool { return a == b }),
	cmp.Comparer(func(a, b *hdrhistogram.Histogram) bool { return a == b || a != nil && b != nil && a.Equals(b) }),
}

func TestTheOrderOfLinesDoesNotMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("many orders of the lines of a stream: in go test without -short")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	noChunks := func(h *metrics.Header, sw *Writer) { sw.NoChunks = h.Shard > 1 }
	for name, f := range map[string]fleet{
		"clocks of their own": {n: 4}, "one start": {n: 4, startAt: true},
		"some without chunks": {n: 4, startAt: true, change: noChunks},
	} {
		shards := f.write(t, load(80))
		ask := metrics.Ask{Outcomes: true, Trace: true}
		read := func(data []byte) *metrics.Summary {
			sums, err := Read(bytes.NewReader(data), ask)
			if err != nil || len(sums) != 1 {
				t.Fatalf("%s: %d runs, %v", name, len(sums), err)
			}
			return sums[0]
		}
		want := read(slices.Concat(shards...))
		if len(want.Ending.Incomplete) > 0 || want.Source.Shards.Sound != 4 {
			t.Fatalf("%s: %+v", name, want.Source.Shards)
		}
		for range 4 {
			rng.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
			for how, data := range map[string][]byte{"one after the other": slices.Concat(shards...), "mixed": mixed(rng, shards)} {
				if diff := cmp.Diff(want, read(data), everything); diff != "" {
					t.Fatalf("%s, %s:\n%s", name, how, diff)
				}
			}
		}
	}
}

// together is what one Collector makes of the records of all shards, moved to the
// clock of the run.
func (f fleet) together(records []*record.Record, zero time.Time) *metrics.Collector {
	c := aspect.Collector(f.header(0))
	c.Keep.Outcomes = true
	for shard := range f.n {
		for i, r := range records {
			if i%f.n == shard {
				moved := *r
				moved.Shift(f.header(shard).Start().Sub(zero))
				c.Add(&moved)
			}
		}
	}
	return c
}

func TestShardsMergeToTheNumbersOfOneRun(t *testing.T) {
	for _, f := range []fleet{{n: 4}, {n: 4, startAt: true}} {
		zero := f.header(0).Start()
		if f.startAt {
			zero = f.header(0).StartAt
		}
		records := load(200)
		sums, err := Read(bytes.NewReader(slices.Concat(f.write(t, records)...)), metrics.Ask{Outcomes: true})
		if err != nil || len(sums) != 1 {
			t.Fatalf("%d runs, %v", len(sums), err)
		}
		got, want := sums[0], f.together(records, zero).Summary(sums[0].When.Seconds)
		if diff := cmp.Diff(want.Kept.Outcomes, got.Kept.Outcomes, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("outcomes\n%s", diff)
		}
		for _, m := range metrics.Metrics {
			if diff := cmp.Diff(ranked(m.Of(want)), ranked(m.Of(got))); diff != "" {
				t.Errorf("%s\n%s", m.Name, diff)
			}
		}
		if got.Rates.PeakOutput != want.Rates.PeakOutput || got.Rates.PeakConcurrent != want.Rates.PeakConcurrent || got.Rates.Goodput != want.Rates.Goodput ||
			got.Totals.Output != want.Totals.Output || failures.Of(got).Resent != failures.Of(want).Resent || failures.Of(got).Resent.Times == 0 || failures.Of(got).Resent.Reconnects == 0 || !slices.Equal(got.Printed.FirstErrors, want.Printed.FirstErrors) || !maps.Equal(got.Printed.Errors, want.Printed.Errors) {
			t.Errorf("peaks %v and %d, want %v and %d", got.Rates.PeakOutput, got.Rates.PeakConcurrent, want.Rates.PeakOutput, want.Rates.PeakConcurrent)
		}
		samePeak(t, got, want)
		if diff := cmp.Diff(figures(want), figures(got)); diff != "" {
			t.Errorf("truth\n%s", diff)
		}
		if !got.Header.Epoch.Equal(zero.Add(f.header(0).ClockOffset)) || got.Truth.PeakConcurrency < 2 {
			t.Errorf("the clock begins at %v, want %v", got.Header.Epoch, zero)
		}
	}
}

// samePeak compares how many tokens came in the busiest second, and then forgets it: each shard counts tokens in
// steps of its own clock.
func samePeak(t *testing.T, got, want *metrics.Summary) {
	t.Helper()
	g, w := tokens.Of(got), tokens.Of(want)
	if off := g.Peak - w.Peak; max(off, -off) > w.Peak/50 {
		t.Errorf("%d tokens in the busiest second, want %d", g.Peak, w.Peak)
	}
	g.Peak, w.Peak = 0, 0
}

// ranked are the statistics of d, with percentiles closer to each other than its values.
func ranked(d *metrics.Distribution) []float64 {
	all := []float64{float64(d.Len()), d.Mean(), d.Std()}
	for p := 0.0; p <= 100; p += 1.0 / 128 {
		all = append(all, d.Percentile(p))
	}
	return all
}

// So the pods of a Job write: in lines that are safe in a pipe, without single arrival times.
func TestShardsWithoutChunksComeToTheSameCounts(t *testing.T) {
	full := fleet{n: 4, startAt: true}
	short := fleet{n: 4, startAt: true, change: func(_ *metrics.Header, sw *Writer) { sw.NoChunks = true }}
	records := load(400)
	want := readOne(t, slices.Concat(full.write(t, records)...))
	streams := short.write(t, records)
	for line := range bytes.Lines(slices.Concat(streams...)) {
		if len(line) > PipeLine {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	got := readOne(t, slices.Concat(streams...))
	if len(got.Ending.Incomplete) > 0 || !strings.Contains(strings.Join(got.Ending.Warnings, "\n"), "not all values: itl, peak output") {
		t.Errorf("lacks %q, warns %q", got.Ending.Incomplete, got.Ending.Warnings)
	}
	if !got.ITL.Approximate() || !want.ITL.Histogram().Equals(got.ITL.Histogram()) {
		t.Errorf("%d gaps, mean %v, want %d, %v", got.ITL.Len(), got.ITL.Mean(), want.ITL.Len(), want.ITL.Mean())
	}
	samePeak(t, got, want)
	for name, pair := range map[string][2]any{
		"completed": {got.Completed, want.Completed}, "failed": {got.Failed, want.Failed}, "input": {got.Totals.Input, want.Totals.Input},
		"output": {got.Totals.Output, want.Totals.Output}, "goodput": {got.Rates.Goodput, want.Rates.Goodput}, "seconds": {got.When.Seconds, want.When.Seconds},
		"date": {got.When.Date, want.When.Date}, "failing": {failures.Of(got).Classes, failures.Of(want).Classes},
		"first errors": {got.Printed.FirstErrors, want.Printed.FirstErrors}, "late": {got.Source.Shards.Late, want.Source.Shards.Late},
		"evidence": {got.Evidence, want.Evidence}, "tokens": {tokens.Of(got).Counts, tokens.Of(want).Counts},
		"per token": {tokens.Of(got).ITL.Len(), tokens.Of(want).ITL.Len()},
		"ttft":      {got.TTFT.Percentile(99), want.TTFT.Percentile(99)}, "e2el": {got.E2EL.Percentile(99), want.E2EL.Percentile(99)},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestABurstOfShardsIsARamp(t *testing.T) {
	f := fleet{n: 4, change: func(h *metrics.Header, _ *Writer) { h.Config.RequestRate = math.Inf(1) }}
	records := load(40)
	// The shards begin up to 5.1 ms after the first.
	want := burst.Burst{Requests: 40}
	for i, r := range records {
		r.Times.Due, r.Times.Slot, r.Phase, r.Turn = 0, 0, record.Main, 0
		want.Took = max(want.Took, r.Times.Sent+time.Duration(i%4*3%4)*1_700_001)
	}
	if got := burst.Of(readOne(t, slices.Concat(f.write(t, records)...))); got.Requests != want.Requests || got.Took != want.Took {
		t.Errorf("%+v, want %+v", got, want)
	}
	records[9].Times.Due, records[9].Times.Slot = msec, msec // so it is none
	if got := burst.Of(readOne(t, slices.Concat(f.write(t, records)...))); got.Requests != 0 || got.Took != 0 {
		t.Errorf("a ramp of %d requests", got.Requests)
	}
}

// Where chunks hold several tokens the gap is only known in the mean, over all shards.
func TestTheMeanGapOfBundledTokensIsThatOfAllShards(t *testing.T) {
	records := []*record.Record{
		arrived(record.Record{Run: "r", Tokens: record.Tokens{Out: 9}}, 10, 30, 50), arrived(record.Record{Run: "r", Index: 1, Tokens: record.Tokens{Out: 5}}, 10, 15),
		arrived(record.Record{Run: "r", Index: 2, Tokens: record.Tokens{Out: 40}}, 20, 80), arrived(record.Record{Run: "r", Index: 3, Tokens: record.Tokens{Out: 7}}, 5, 25, 90),
	}
	want := tokens.Of(summaryOf(metrics.Config{}, records...)).MeanITL
	if got := tokens.Of(readOne(t, slices.Concat(fleet{n: 2}.write(t, records)...))); !near(got.MeanITL, want) || got.ITL.Len() > 0 || want == 0 {
		t.Errorf("%v ms, want %v", got.MeanITL, want)
	}
}

func TestTheServersCountersAreThoseOfOneShard(t *testing.T) {
	var streams [][]byte
	spec, diffusion := &samples.SpecDecode{Drafts: 3}, &samples.Diffusion{CanvasPositions: 7}
	for shard := range 3 {
		var buf bytes.Buffer
		h := fleet{n: 3}.header(shard)
		sw, s := NewWriter(&buf), aspect.Collector(h).Summary(5)
		if shard > 0 {
			s.Printed.SpecDecode, s.Printed.Diffusion = spec, diffusion
		}
		if err := errors.Join(sw.Begin(h), sw.End(s)); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, buf.Bytes())
	}
	if s := readOne(t, slices.Concat(streams...)); !reflect.DeepEqual(s.Printed.SpecDecode, spec) || !reflect.DeepEqual(s.Printed.Diffusion, diffusion) {
		t.Errorf("%+v and %+v", s.Printed.SpecDecode, s.Printed.Diffusion)
	}
}

func TestARiseOfAllShardsIsOne(t *testing.T) {
	var streams [][]byte
	for shard := range 2 {
		var buf bytes.Buffer
		h := fleet{n: 2}.header(shard)
		sw, s := NewWriter(&buf), aspect.Collector(h).Summary(5)
		s.Printed.RateChanges = []metrics.RateChange{{RPS: 1, At: h.Epoch}, {RPS: 2, At: h.Epoch.Add(time.Second)}}
		if err := errors.Join(sw.Begin(h), sw.End(s)); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, buf.Bytes())
	}
	if s := readOne(t, slices.Concat(streams...)); len(s.Printed.RateChanges) != 2 || !s.Printed.RateChanges[1].At.Equal(fleet{n: 2}.header(0).Epoch.Add(time.Second)) {
		t.Errorf("%v", s.Printed.RateChanges)
	}
}
