package tokens

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// arrived is a completed request whose chunks came at these milliseconds after the start of the run.
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

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

// summary is a run of these requests, with its Trace.
func summary(c metrics.Config, records ...*record.Record) *metrics.Summary {
	collector := metrics.NewCollector(&metrics.Header{Config: c}, Kind)
	collector.Keep.Trace = true
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(1)
}

func of(c metrics.Config, records ...*record.Record) *Tokens { return Of(summary(c, records...)) }

// A chat's chunks hold several tokens, and a completion's one each. A failure has none.
func TestTokensAreWhatOneReckonsByHand(t *testing.T) {
	got := of(metrics.Config{},
		arrived(record.Record{
			Times:  record.Times{Sent: 10 * msec, FirstContent: 60 * msec, Last: 101 * msec, End: 111 * msec},
			Tokens: record.Tokens{Out: 6, PerChunk: []int{0, 1, 2, 3, 0}},
		}, 50, 60, 70, 100, 100),
		arrived(record.Record{Index: 1, Times: record.Times{Sent: 31 * msec}, Tokens: record.Tokens{Out: 3}}, 81, 91, 101),
		&record.Record{Index: 2, Times: record.Times{Sent: 32 * msec, End: 40 * msec}, Result: record.Result{Class: record.Status, Error: "no"}})
	for name, pair := range map[string][2]float64{
		"values of ITL":       {float64(got.ITL.Len()), 7}, // 2 of 5 ms, 3 of 10 ms; 2 of 10 ms
		"mean ITL":            {got.MeanITL, 60.0 / 7},
		"smallest ITL":        {got.ITL.Percentile(0), 5},
		"tokens in the chunk": {got.Mean(), 9.0 / 6},
	} {
		if !near(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	if want := (Counts{Known: 2, Chunks: 6, Blank: 2, Tokens: 9, Largest: 3, Peak: 9}); got.Counts != want {
		t.Errorf("%+v, want %+v", got.Counts, want)
	}
	if got.PeakStep != 10*msec {
		t.Errorf("in steps of %v", got.PeakStep)
	}
}

func TestChunksAreTokensUnlessTheyCannotBe(t *testing.T) {
	role := record.Record{Times: record.Times{FirstContent: 2 * msec}}
	for name, c := range map[string]struct {
		record record.Record
		out    int
		each   []int
		chunks []float64
		want   Counts
		gaps   []float64 // ITL per token in milliseconds
	}{
		"one each":                  {out: 3, chunks: []float64{1, 3, 6}, want: Counts{Known: 1, Chunks: 3, Tokens: 3, Largest: 1}, gaps: []float64{2, 3}},
		"a role chunk":              {record: role, out: 2, chunks: []float64{1, 2, 6}, want: Counts{Known: 1, Chunks: 2, Blank: 1, Tokens: 2, Largest: 1}, gaps: []float64{4}},
		"a role in the same packet": {out: 2, chunks: []float64{1, 1, 6}, want: Counts{Known: 1, Chunks: 2, Blank: 1, Tokens: 2, Largest: 1}, gaps: []float64{5}},
		"a finish chunk":            {out: 2, chunks: []float64{1, 4, 6}, want: Counts{Known: 1, Chunks: 2, Blank: 1, Tokens: 2, Largest: 1}, gaps: []float64{3}},
		"role and finish":           {record: role, out: 2, chunks: []float64{1, 2, 5, 5}, want: Counts{Known: 1, Chunks: 2, Blank: 2, Tokens: 2, Largest: 1}, gaps: []float64{3}},
		"half a character first":    {record: role, out: 3, chunks: []float64{1, 2, 6}, want: Counts{Known: 1, Chunks: 3, Tokens: 3, Largest: 1}, gaps: []float64{1, 4}},
		"bundled":                   {out: 8, chunks: []float64{1, 3}, want: Counts{Bundled: 1, Chunks: 2, Tokens: 8}},
		"no usage":                  {out: 1, chunks: []float64{1, 2, 3}, want: Counts{Fewer: 1}},
		"counted":                   {out: 5, each: []int{2, 0, 3}, chunks: []float64{1, 2, 7}, want: Counts{Known: 1, Chunks: 2, Blank: 1, Tokens: 5, Largest: 3}, gaps: []float64{2, 2, 2}},
		"counted in part":           {out: 5, each: []int{2, 0, 0}, chunks: []float64{1, 2, 7}, want: Counts{Bundled: 1, Chunks: 3, Tokens: 5}},
		"miscounted":                {out: 1, each: []int{-1, 1, 1}, chunks: []float64{1, 2, 7}, want: Counts{Fewer: 1}},
	} {
		c.record.Tokens.Out, c.record.Tokens.PerChunk = c.out, c.each
		got := of(metrics.Config{}, arrived(c.record, c.chunks...))
		c.want.Peak = c.out
		if got.Counts != c.want {
			t.Errorf("%s: %+v, want %+v", name, got.Counts, c.want)
		}
		var want metrics.Distribution
		for _, gap := range c.gaps {
			want.Add(gap / 1000)
		}
		if got.ITL.Len() != len(c.gaps) || len(c.gaps) > 0 && !reflect.DeepEqual(got.ITL.Histogram().Export(), want.Histogram().Export()) {
			t.Errorf("%s: ITL of %d values, mean %v; want %v", name, got.ITL.Len(), got.ITL.Mean(), c.gaps)
		}
	}
}

func TestAFewBundledRequestsAreLeftOut(t *testing.T) {
	for requests, kept := range map[int]bool{100: true, 99: false} {
		records := []*record.Record{arrived(record.Record{Tokens: record.Tokens{Out: 9}}, 10, 30, 90)}
		for i := range requests - 1 {
			records = append(records, arrived(record.Record{Index: 1 + i, Tokens: record.Tokens{Out: 2}}, 10, 15))
		}
		got := of(metrics.Config{}, records...)
		if kept && (got.ITL.Len() != requests-1 || !near(got.MeanITL, 5)) || !kept && got.ITL.Len() != 0 || got.Differ() == kept {
			t.Errorf("1 of %d bundled: %d values, mean %v, differ %v", requests, got.ITL.Len(), got.MeanITL, got.Differ())
		}
	}
}

func TestTheMeanITLFollowsFromTheCountAlone(t *testing.T) {
	// Two chunks of about 4 tokens, 20 ms apart: 4 tokens in 20 ms.
	got := of(metrics.Config{}, arrived(record.Record{Tokens: record.Tokens{Out: 8}}, 10, 30), arrived(record.Record{Tokens: record.Tokens{Out: 2}}, 10, 15))
	if got.ITL.Len() != 0 || !near(got.MeanITL, 25.0/5) {
		t.Errorf("%d values, mean %v, want none and 5", got.ITL.Len(), got.MeanITL)
	}
}

// later is a completed request of one token a chunk.
func later(sent float64, chunks ...float64) *record.Record {
	at := time.Duration(sent * float64(msec))
	return arrived(record.Record{Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{Out: len(chunks)}}, chunks...)
}

// crossing are requests about a part from 1 to 2 s.
func crossing() []*record.Record {
	return []*record.Record{
		later(100, 500, 999),          // before
		later(900, 1000, 1100),        // in at its start
		later(1000, 1200, 1500),       // inside, from its very start
		later(1400, 1600),             // inside, of one token
		later(1600, 1700, 2000),       // inside, to its very end
		later(1900, 1950, 2000, 2001), // out at its end
		later(500, 1500, 2500),        // throughout
		later(2001, 2100),             // after
	}
}

// The peak is of all tokens that came within a part; the ITL is of the requests wholly inside.
func TestAPartHasTheTokensThatCameWithin(t *testing.T) {
	run := summary(metrics.Config{}, crossing()...)
	part := Of(run.Within(metrics.Window{From: time.Second, To: 2 * time.Second}))
	if part.Peak != 9 || part.Known != 3 || part.ITL.Len() != 2 { // from 1.01 s, without the one at 1 s
		t.Errorf("%+v, %d values of ITL", part.Counts, part.ITL.Len())
	}
	whole := Of(run.Within(metrics.Window{To: 3 * time.Second}))
	if whole.Counts != Of(run).Counts || whole.ITL.Len() != Of(run).ITL.Len() {
		t.Errorf("%+v of the whole run, want %+v", whole.Counts, Of(run).Counts)
	}
}

func TestTokensOfShardsAddUp(t *testing.T) {
	want := of(metrics.Config{}, crossing()...)
	var merged *metrics.Collector
	for i := range 3 {
		c := metrics.NewCollector(&metrics.Header{}, Kind)
		for k, r := range crossing() {
			if k%3 == i {
				c.Add(r)
			}
		}
		if merged == nil {
			merged = c
			continue
		}
		merged.Merge(c, 0)
	}
	got := Of(merged.Summary(1))
	if got.Counts != want.Counts || !got.ITL.Histogram().Equals(want.ITL.Histogram()) || got.MeanITL != want.MeanITL || got.PeakStep != want.PeakStep {
		t.Errorf("%+v, mean ITL %v; want %+v and %v", got.Counts, got.MeanITL, want.Counts, want.MeanITL)
	}
}

// A shard's clock may begin later: its tokens then fall into later seconds.
func TestTokensOfALaterShardCameLater(t *testing.T) {
	first, second := metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind)
	first.Add(later(0, 100, 200))
	second.Add(later(0, 100, 200, 300))
	first.Merge(second, 5*time.Second)
	if got := Of(first.Summary(6)); got.Peak != 3 || got.Known != 2 {
		t.Errorf("%+v, want at most 3 tokens in a second", got.Counts)
	}
}
