package metrics

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// arrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func arrived(r record.Record, chunks ...float64) *record.Record {
	for _, at := range chunks {
		r.Answer.Chunks.Append(time.Duration(at * float64(msec)))
	}
	r.Times.Last = max(r.Times.Last, r.Answer.Chunks.Last())
	r.Times.End = max(r.Times.End, r.Times.Last)
	if r.Times.FirstContent == 0 {
		r.Times.FirstContent = r.Answer.Chunks.First()
	}
	return &r
}

// three are a chat whose chunks hold several tokens, a completion that waited for
// a slot, and a failure beside them.
func three() []*record.Record {
	return []*record.Record{
		arrived(record.Record{
			Index: 0,
			Conn:  record.Conn{New: true, DNS: msec, Connect: 2 * msec, Proxy: 4 * msec, TLS: 3 * msec}, Times: record.Times{Sent: 10 * msec, Wrote: 15 * msec, FirstContent: 60 * msec, Last: 101 * msec, End: 111 * msec},
			Tokens: record.Tokens{Out: 6, PerChunk: []int{0, 1, 2, 3, 0}},
		}, 50, 60, 70, 100, 100),
		arrived(record.Record{Index: 1, Times: record.Times{Due: 20 * msec, Slot: 30 * msec, Sent: 31 * msec, Wrote: 31500 * time.Microsecond}, Tokens: record.Tokens{Out: 3}}, 81, 91, 101),
		{Index: 2, Times: record.Times{Due: 30 * msec, Slot: 30 * msec, Sent: 32 * msec, End: 40 * msec}, Result: record.Result{Class: record.Status, Error: "no"}},
	}
}

func truthOf(c Config, records ...*record.Record) *Truth {
	collector := NewCollector(&Header{Config: c})
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1).Truth
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

func TestTruthIsWhatOneReckonsByHand(t *testing.T) {
	truth := truthOf(Config{RequestRate: 50}, three()...)
	for name, pair := range map[string][2]float64{
		"values of ITL":       {float64(truth.ITL.Len()), 7}, // 2 of 5 ms, 3 of 10 ms; 2 of 10 ms
		"mean ITL":            {truth.MeanITL, 60.0 / 7},
		"smallest ITL":        {truth.ITL.Percentile(0), 5},
		"mean concurrency":    {truth.MeanConcurrency, 0.101 + 0.070 + 0.008},
		"tokens in the chunk": {truth.Tokens.Mean(), 9.0 / 6},
	} {
		if !near(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	if want := (ChunkTokens{Known: 2, Chunks: 6, Blank: 2, Tokens: 9, Largest: 3}); truth.Tokens != want {
		t.Errorf("tokens %+v, want %+v", truth.Tokens, want)
	}
	if truth.PeakTokens != 9 || truth.PeakStep != 10*msec || truth.PeakConcurrency != 3 {
		t.Errorf("peaks %d in steps of %v and %d", truth.PeakTokens, truth.PeakStep, truth.PeakConcurrency)
	}
}

func TestChunksAreTokensUnlessTheyCannotBe(t *testing.T) {
	role := record.Record{Times: record.Times{FirstContent: 2 * msec}}
	for name, c := range map[string]struct {
		record record.Record
		out    int
		each   []int
		chunks []float64
		want   ChunkTokens
		gaps   []float64 // ITL per token in milliseconds
	}{
		"one each":                  {out: 3, chunks: []float64{1, 3, 6}, want: ChunkTokens{Known: 1, Chunks: 3, Tokens: 3, Largest: 1}, gaps: []float64{2, 3}},
		"a role chunk":              {record: role, out: 2, chunks: []float64{1, 2, 6}, want: ChunkTokens{Known: 1, Chunks: 2, Blank: 1, Tokens: 2, Largest: 1}, gaps: []float64{4}},
		"a role in the same packet": {out: 2, chunks: []float64{1, 1, 6}, want: ChunkTokens{Known: 1, Chunks: 2, Blank: 1, Tokens: 2, Largest: 1}, gaps: []float64{5}},
		"a finish chunk":            {out: 2, chunks: []float64{1, 4, 6}, want: ChunkTokens{Known: 1, Chunks: 2, Blank: 1, Tokens: 2, Largest: 1}, gaps: []float64{3}},
		"role and finish":           {record: role, out: 2, chunks: []float64{1, 2, 5, 5}, want: ChunkTokens{Known: 1, Chunks: 2, Blank: 2, Tokens: 2, Largest: 1}, gaps: []float64{3}},
		"half a character first":    {record: role, out: 3, chunks: []float64{1, 2, 6}, want: ChunkTokens{Known: 1, Chunks: 3, Tokens: 3, Largest: 1}, gaps: []float64{1, 4}},
		"bundled":                   {out: 8, chunks: []float64{1, 3}, want: ChunkTokens{Bundled: 1, Chunks: 2, Tokens: 8}},
		"no usage":                  {out: 1, chunks: []float64{1, 2, 3}, want: ChunkTokens{Fewer: 1}},
		"counted":                   {out: 5, each: []int{2, 0, 3}, chunks: []float64{1, 2, 7}, want: ChunkTokens{Known: 1, Chunks: 2, Blank: 1, Tokens: 5, Largest: 3}, gaps: []float64{2, 2, 2}},
		"counted in part":           {out: 5, each: []int{2, 0, 0}, chunks: []float64{1, 2, 7}, want: ChunkTokens{Bundled: 1, Chunks: 3, Tokens: 5}},
		"miscounted":                {out: 1, each: []int{-1, 1, 1}, chunks: []float64{1, 2, 7}, want: ChunkTokens{Fewer: 1}},
	} {
		c.record.Tokens.Out, c.record.Tokens.PerChunk = c.out, c.each
		truth := truthOf(Config{}, arrived(c.record, c.chunks...))
		if truth.Tokens != c.want {
			t.Errorf("%s: %+v, want %+v", name, truth.Tokens, c.want)
		}
		var want Distribution
		for _, gap := range c.gaps {
			want.Add(gap / 1000)
		}
		if truth.ITL.Len() != len(c.gaps) || len(c.gaps) > 0 && !reflect.DeepEqual(truth.ITL.hist.Export(), want.hist.Export()) {
			t.Errorf("%s: ITL of %d values, mean %v; want %v", name, truth.ITL.Len(), truth.ITL.Mean(), c.gaps)
		}
		if truth.PeakTokens != c.out {
			t.Errorf("%s: %d tokens in the busiest second, want %d", name, truth.PeakTokens, c.out)
		}
	}
}

func TestAFewBundledRequestsAreLeftOut(t *testing.T) {
	for requests, kept := range map[int]bool{100: true, 99: false} {
		records := []*record.Record{arrived(record.Record{Tokens: record.Tokens{Out: 9}}, 10, 30, 90)}
		for i := range requests - 1 {
			records = append(records, arrived(record.Record{Index: 1 + i, Tokens: record.Tokens{Out: 2}}, 10, 15))
		}
		truth := truthOf(Config{}, records...)
		if kept && (truth.ITL.Len() != requests-1 || !near(truth.MeanITL, 5)) || !kept && truth.ITL.Len() != 0 || truth.Tokens.Differ() == kept {
			t.Errorf("1 of %d bundled: %d values, mean %v, differ %v", requests, truth.ITL.Len(), truth.MeanITL, truth.Tokens.Differ())
		}
	}
}

func TestTheMeanITLFollowsFromTheCountAlone(t *testing.T) {
	// Two chunks of about 4 tokens, 20 ms apart: 4 tokens in 20 ms.
	truth := truthOf(Config{}, arrived(record.Record{Tokens: record.Tokens{Out: 8}}, 10, 30), arrived(record.Record{Tokens: record.Tokens{Out: 2}}, 10, 15))
	if truth.ITL.Len() != 0 || !near(truth.MeanITL, 25.0/5) {
		t.Errorf("%d values, mean %v, want none and 5", truth.ITL.Len(), truth.MeanITL)
	}
}

func TestForeignOutcomesHaveNoTruth(t *testing.T) {
	c := NewCollector(&Header{})
	c.AddOutcome(Outcome{Success: true, Out: 1})
	s := c.Summary(1)
	if s.Truth != nil {
		t.Errorf("truth %v", s.Truth)
	}
}

func TestCountsAreInOneOrder(t *testing.T) {
	for range 9 {
		if got := ByCount(map[string]int{"d": 1, "b": 1, "e": 2, "a": 1, "c": 1}); !slices.Equal(got, []string{"e", "a", "b", "c", "d"}) {
			t.Fatal(got)
		}
	}
}

func durationMS(v float64) time.Duration { return time.Duration(v * float64(msec)) }
