package stream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/burst"
	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/aspect/endings"
	"github.com/servebench/servebench/metrics/aspect/held"
	"github.com/servebench/servebench/metrics/aspect/late"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
	"github.com/servebench/servebench/metrics/verdict"
)

// figures are the numbers of a Truth, those of its distributions as a histogram
// gives them.
func figures(s *metrics.Summary) string {
	t, came, moments := s.Truth, tokens.Of(s), since.Of(s)
	var b strings.Builder
	for _, d := range []*metrics.Distribution{&came.ITL, &reasoning.Of(s).ContentTTFT, &moments.WrittenTTFT, &moments.UndelayedTTFT, &moments.ScheduledTTFT, &moments.ScheduledE2EL} {
		fmt.Fprintln(&b, d.Len(), d.Mean(), d.Median(), d.Percentile(99))
	}
	fmt.Fprintf(&b, "%+v\n%+v\n%+v\n%+v\n%+v\n", came.Counts, *connecting.Of(s), *burst.Of(s), pace.Of(s).Pace, held.Of(s).Held)
	fmt.Fprintf(&b, "%+v\n%v\n", lengths.Kind.Facts(s), endings.Of(s).Reasons)
	fmt.Fprintln(&b, came.MeanITL, came.Peak, came.PeakStep, t.PeakConcurrency, t.MeanConcurrency, t.LaterTurns)
	return b.String()
}

// noticed is evidence and ages that accuse a run of several things.
func noticed(s *metrics.Summary, shard int) {
	n := time.Duration(shard + 1)
	s.Evidence = &evidence.Evidence{
		CPU: evidence.CPU{Cores: 2, Machine: 3, Others: n * time.Second, BusiestOthers: 1 + 0.5*float64(shard), Watched: n * 10 * time.Second, Used: n * 8 * time.Second, Busiest: 0.3 / float64(n), Stolen: 0.02 * float64(n)}, Pauses: evidence.Pauses{Stalls: 2, Stalled: n * 30 * msec, LongestStall: n * 110 * msec, GCs: 4, GCPaused: n * msec, LongestGC: n * msec / 2, GCWait: n * msec / 3, ClockStep: n * -msec}, Stamps: evidence.Stamps{Kernel: 100, User: 3, SharedReads: 2, Disordered: 3}, Connections: evidence.Connections{Opened: 5, Warmed: 1, Closed: 1, Packed: 4, Exhausted: 1, Exhaustion: fmt.Sprint("no ports ", shard), Protocol: "HTTP/1.1", Unverified: shard == 1}, Server: evidence.Server{PrefixQueries: 100, PrefixHits: 3}, Repeated: 2, OtherInFlight: 4, Selftest: &evidence.Selftest{Streams: 10, ErrorP99: n * msec, WrongFrom: 30 * shard, Kernel: shard == 0},
	}
	ages := alike(0.5*float64(n), 100)
	s.Client.Age = metrics.FromHistogram(ages.Histogram())
}

// judged records a run with what its program noticed, and judges it.
func judged(t *testing.T, sw *Writer, h *metrics.Header, shard int, records ...*record.Record) *metrics.Summary {
	t.Helper()
	c := aspect.Collector(h)
	err := sw.Begin(h)
	for _, r := range records {
		c.Add(r)
		if err == nil {
			err = sw.Write(r)
		}
	}
	s := c.Summary(1.5)
	noticed(s, shard)
	if err == nil {
		err = sw.End(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	trust.Judge(s)
	return s
}

func readOne(t *testing.T, data []byte) *metrics.Summary {
	t.Helper()
	sums, err := Read(bytes.NewReader(data), metrics.Ask{})
	if err != nil || len(sums) != 1 {
		t.Fatalf("%d runs, %v", len(sums), err)
	}
	return sums[0]
}

// readLate is r with marks of some chunks.
func readLate(r *record.Record) *record.Record {
	for i := 5; i < 50; i += 10 {
		r.Answer.Late.Add(i, 5*time.Millisecond)
	}
	return r
}

func TestBoundsOfMarkedChunksSurviveEveryStream(t *testing.T) {
	for _, noChunks := range []bool{false, true} {
		var buf bytes.Buffer
		sw := NewWriter(&buf)
		sw.NoChunks = noChunks
		h := testHeader("r")
		c := aspect.Collector(h)
		err := sw.Begin(h)
		for _, r := range []*record.Record{testRecord("r", 0, 50), readLate(testRecord("r", 1, 60))} {
			c.Add(r)
			err = errors.Join(err, sw.Write(r))
		}
		want := c.Summary(1.5)
		if err := errors.Join(err, sw.End(want)); err != nil {
			t.Fatal(err)
		}
		got := readOne(t, buf.Bytes())
		least, most, _ := late.ITL(want, 99)
		gotLeast, gotMost, marked := late.ITL(got, 99)
		if !marked || !near(gotLeast, least) || !near(gotMost, most) || least == most {
			t.Errorf("without chunks %v: %v to %v, want %v to %v", noChunks, gotLeast, gotMost, least, most)
		}
		if stamps := late.Of(got); stamps.Chunks != 5 || stamps.Of != 110 {
			t.Errorf("without chunks %v: %d of %d chunks, want 5 of 110", noChunks, stamps.Chunks, stamps.Of)
		}
	}
}

func TestAStreamComesToTheSameTruthAndVerdict(t *testing.T) {
	for _, noChunks := range []bool{false, true} {
		for name, records := range map[string][]*record.Record{
			"by the chunk": three(), "one each": {testRecord("r", 0, 50), testRecord("r", 1, 60)},
			"short and long": {testRecord("r", 0, 50), answered(3, 9, "stop"), answered(9, 3, "length"), {Index: 3, Tokens: record.Tokens{Out: 1, OutAsked: 9, Uncounted: true}}},
			"in a rush":      {arrived(record.Record{Tokens: record.Tokens{Out: 5}}, 10, 20, 30, 40, 4000)},
			"bundled":        {arrived(record.Record{Tokens: record.Tokens{Out: 9}}, 10, 30, 50), arrived(record.Record{Tokens: record.Tokens{Out: 5}}, 10, 15)},
		} {
			var buf bytes.Buffer
			sw := NewWriter(&buf)
			sw.NoChunks, sw.MaxLine = noChunks, PipeLine
			h := testHeader("r")
			h.Config.RequestRate, h.Config.RampUp, h.Config.IgnoreEOS = 10, nil, true
			want := judged(t, sw, h, 0, records...)
			got := readOne(t, buf.Bytes())
			if diff := cmp.Diff(figures(want), figures(got)); diff != "" {
				t.Errorf("%s, without chunks %v: truth\n%s", name, noChunks, diff)
			}
			if diff := cmp.Diff(want.Trust, got.Trust); diff != "" || want.Trust.Verdict != verdict.Suspect {
				t.Errorf("%s, without chunks %v: trust\n%s", name, noChunks, diff)
			}
			if diff := cmp.Diff(want.Evidence, got.Evidence); diff != "" || !want.Client.Age.Histogram().Equals(got.Client.Age.Histogram()) {
				t.Errorf("%s, without chunks %v: evidence\n%s", name, noChunks, diff)
			}
		}
	}
}

func TestWithoutChunksOrEndTokensAreSpreadEvenly(t *testing.T) {
	var buf bytes.Buffer
	sw := NewWriter(&buf)
	sw.NoChunks = true
	judged(t, sw, testHeader("r"), 0, arrived(record.Record{Run: "r", Tokens: record.Tokens{Out: 3}}, 0, 10, 1000))
	cut := buf.Bytes()[:bytes.LastIndexByte(buf.Bytes()[:buf.Len()-1], '\n')+1]
	if s := readOne(t, cut); tokens.Of(s).Peak != 2 || tokens.Of(s).ITL.Len() != 0 || !near(tokens.Of(s).MeanITL, 500) {
		t.Errorf("%d tokens in a second, mean ITL %v; want 2 and 500", tokens.Of(s).Peak, tokens.Of(s).MeanITL)
	}
}

// sharded writes records of one run by turns into shards, the second of which
// began 300 ms later on a clock that is a minute ahead.
func sharded(t *testing.T, records []*record.Record) [][]byte {
	t.Helper()
	var shards [][]byte
	for shard := range 2 {
		later := time.Duration(shard) * 300 * msec
		ahead := time.Duration(shard) * time.Minute
		h := testHeader("r")
		h.Shard, h.Shards = shard, 2
		h.Config.RequestRate, h.Config.RampUp = 10, nil
		h.ClockOffset += ahead
		h.Epoch = h.Epoch.Add(later + ahead)
		var own []*record.Record
		for i, r := range records {
			if i%2 == shard {
				moved := *r
				moved.Shift(-later)
				own = append(own, &moved)
			}
		}
		var buf bytes.Buffer
		judged(t, NewWriter(&buf), h, shard, own...)
		shards = append(shards, buf.Bytes())
	}
	return shards
}

func TestShardsComeToTheTruthOfOneRun(t *testing.T) {
	records := requests(60)
	h := testHeader("r")
	h.Config.RequestRate, h.Config.RampUp = 10, nil
	one := aspect.Collector(h)
	for _, r := range records {
		one.Add(r)
	}
	got := readOne(t, slices.Concat(sharded(t, records)...))
	want := one.Summary(got.When.Seconds)
	// The sums are made in another order.
	if !near(since.Of(got).ScheduledE2EL.Mean(), since.Of(want).ScheduledE2EL.Mean()) || since.Of(got).ScheduledE2EL.Len() != since.Of(want).ScheduledE2EL.Len() {
		t.Error("E2EL from when it was due differs")
	}
	for _, s := range []*metrics.Summary{got, want} {
		moments := since.Of(s)
		reasoning.Of(s).ContentTTFT, moments.ScheduledTTFT, moments.ScheduledE2EL = metrics.Distribution{}, metrics.Distribution{}, metrics.Distribution{}
	}
	if diff := cmp.Diff(figures(want), figures(got)); diff != "" {
		t.Errorf("truth\n%s", diff)
	}
	wantEvidence := &evidence.Evidence{
		CPU: evidence.CPU{Cores: 4, Machine: 3, Others: 2 * time.Second, BusiestOthers: 1.5, Watched: 20 * time.Second, Used: 24 * time.Second, Busiest: 0.3, Stolen: 0.04}, Pauses: evidence.Pauses{Stalls: 2, Stalled: 60 * msec, LongestStall: 220 * msec, GCs: 8, GCPaused: 2 * msec, LongestGC: msec, GCWait: 2 * msec / 3, ClockStep: -2 * msec}, Stamps: evidence.Stamps{Kernel: 200, User: 6, SharedReads: 4, Disordered: 6}, Connections: evidence.Connections{Opened: 10, Warmed: 2, Closed: 2, Packed: 8, Exhausted: 2, Exhaustion: "no ports 0", Protocol: "HTTP/1.1", Unverified: true}, Server: evidence.Server{PrefixQueries: 100, PrefixHits: 3}, Repeated: 4, OtherInFlight: 8, Selftest: &evidence.Selftest{Streams: 20, ErrorP99: 2 * msec, WrongFrom: 40, Kernel: true},
	}
	if diff := cmp.Diff(wantEvidence, got.Evidence); diff != "" || got.Client.Age.Len() != 200 || !near(got.Client.Age.Percentile(100), 1) {
		t.Errorf("%d ages up to %v, evidence\n%s", got.Client.Age.Len(), got.Client.Age.Percentile(100), diff)
	}
}

func TestACutShardLeavesNoEvidenceAndTheVerdictSaysSo(t *testing.T) {
	shards := sharded(t, requests(10))
	cut := shards[1][:bytes.LastIndexByte(shards[1][:len(shards[1])-1], '\n')+1]
	const missing = "the measurements of the load generator are missing for 1 shard: the verdict uses the requests and the other shards"
	for name, data := range map[string][]byte{"cut": slices.Concat(shards[0], cut), "lost": shards[0]} {
		s := readOne(t, data)
		if !slices.Contains(s.Trust.Notes, missing) || s.Evidence == nil || s.Evidence.Connections.Exhausted != 1 {
			t.Errorf("%s: evidence %+v, notes %q", name, s.Evidence, s.Trust.Notes)
		}
	}
}

func TestAStreamWithoutEvidenceIsJudgedByItsRecords(t *testing.T) {
	var buf bytes.Buffer
	writeRun(t, NewWriter(&buf), testHeader("r"), testRecord("r", 0, 50), testRecord("r", 1, 60))
	s := readOne(t, buf.Bytes())
	if s.Evidence != nil || s.Client.Age.Len() != 0 || s.Truth.PeakConcurrency != 1 || tokens.Of(s).ITL.Len() != 108 {
		t.Errorf("evidence %v, truth\n%s", s.Evidence, figures(s))
	}
	if len(s.Trust.Notes) != 1 || !strings.Contains(s.Trust.Notes[0], "has no measurements of the load generator") {
		t.Errorf("notes %q", s.Trust.Notes)
	}
}

func TestResultFilesAndBlocksAreNotJudged(t *testing.T) {
	for _, text := range []string{
		`{"duration": 1.0, "completed": 2, "total_input_tokens": 3}`,
		"============ Serving Benchmark Result ============\nSuccessful requests: 5\n" + strings.Repeat("=", 50) + "\n",
	} {
		if s := readOne(t, []byte(text)); s.Truth != nil || s.Trust != nil {
			t.Errorf("%q: truth %v, trust %v", text, s.Truth, s.Trust)
		}
	}
}
