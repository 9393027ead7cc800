package late

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// arrived is a completed request of so many tokens whose chunks came at these milliseconds after the start of the
// run.
func arrived(out int, chunks ...time.Duration) *record.Record {
	r := &record.Record{Tokens: record.Tokens{Out: out}}
	for _, at := range chunks {
		r.Answer.Chunks.Append(at * msec)
	}
	r.Times.Last = r.Answer.Chunks.Last()
	r.Times.End, r.Times.FirstContent = r.Times.Last, r.Answer.Chunks.First()
	return r
}

// merged is an answer of a token every 25 ms, of which the second came in one read with the third.
func merged() *record.Record {
	r := arrived(5, 25, 75, 75, 100, 125)
	r.Answer.Late.Add(1, 24*msec)
	return r
}

// even is an answer of a token every 25 ms.
func even() *record.Record {
	return arrived(5, 25, 50, 75, 100, 125)
}

// A chunk stamped 75 that came from 51 on: the gap before it is 26 to 50, the gap after it 0 to 24.
func TestMarkedChunksBoundPercentiles(t *testing.T) {
	for _, limit := range []int{0, 3} { // exact, and by histograms
		c := metrics.NewCollector(&metrics.Header{}, Kind)
		c.Cap = limit
		for range 5 {
			c.Add(even())
		}
		other := metrics.NewCollector(&metrics.Header{}, Kind)
		other.Cap = limit
		other.Add(merged())
		c.Merge(other, time.Second)
		s := c.Summary(1)
		if late := Of(s); late.Chunks != 1 || late.Of != 30 {
			t.Errorf("%d of %d chunks are marked, want 1 of 30", late.Chunks, late.Of)
		}
		for p, want := range map[float64][3]float64{0: {0, 0, 24}, 50: {25, 25, 25}, 100: {26, 50, 50}} {
			least, most, marked := ITL(s, p)
			got := [3]float64{least, s.ITL.Percentile(p), most}
			exact := limit == 0
			for i := range want {
				if !marked || math.Abs(got[i]-want[i]) > 0.002*want[i]+0.001 || exact && math.Abs(got[i]-want[i]) > 1e-9 {
					t.Errorf("limit %d: P%v is %v, want %v", limit, p, got, want)
				}
			}
		}
	}
}

// The bounds hold for any true arrivals within the marks.
func TestTruePercentilesLieWithinTheirBounds(t *testing.T) {
	c, truth := metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind)
	for i := range 200 {
		late, real := record.Record{Tokens: record.Tokens{Out: 40}}, record.Record{Tokens: record.Tokens{Out: 40}}
		for j := range 40 {
			at := time.Duration(j*25)*msec + time.Duration((i*7+j*13)%11)*msec
			real.Answer.Chunks.Append(at)
			if by := time.Duration((i*3+j*5)%17) * msec; j < 39 && (i+j)%6 == 0 { // read with the next
				next := time.Duration((j+1)*25)*msec + time.Duration((i*7+(j+1)*13)%11)*msec
				late.Answer.Late.Add(j, next-at+by)
				at = next
			}
			late.Answer.Chunks.Append(at)
		}
		late.Times.Last, real.Times.Last = late.Answer.Chunks.Last(), real.Answer.Chunks.Last()
		c.Add(&late)
		truth.Add(&real)
	}
	s, want := c.Summary(1), truth.Summary(1)
	for _, p := range []float64{1, 10, 50, 90, 99, 99.9} {
		least, most, marked := ITL(s, p)
		if v := want.ITL.Percentile(p); !marked || v < least || v > most {
			t.Errorf("P%v is %v, outside of %v to %v", p, v, least, most)
		}
	}
	if least, most, _ := ITL(s, 99); least == most {
		t.Error("the marks change nothing")
	}
}

func TestWithoutMarksThereAreNoBounds(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	c.Add(even())
	if _, _, marked := ITL(c.Summary(1), 99); marked {
		t.Error("a run without marks has bounds")
	}
	if _, _, marked := ITL(metrics.Unknown(), 99); marked {
		t.Error("a run without requests has bounds")
	}
}

func TestDamagedMarksMarkNothing(t *testing.T) {
	for _, damaged := range []record.Marks{{1}, {0x80}, {1, 0x80}, slices.Repeat(record.Marks{0xff}, 30), {1, 1, 0xff}, {0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}} {
		r := merged()
		r.Answer.Late = damaged
		c := metrics.NewCollector(&metrics.Header{}, Kind)
		c.Add(r) // and does not panic
		for i, by := range damaged.All() {
			if i != 1 || by != 1 {
				t.Errorf("%x marks %d by %d", damaged, i, by)
			}
		}
	}
	beyond := even()
	beyond.Answer.Late.Add(5, msec)
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	if c.Add(beyond); Of(c.Summary(1)).Chunks != 0 {
		t.Error("a mark beyond the last chunk counts")
	}
}

// A first chunk that is marked bounds TTFT and TPOT, and a last one E2EL and TPOT, whatever the division of TPOT gives.
func TestMarkedEndsBoundTheOtherMetrics(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for range 30 {
		r := arrived(12, 50, 60, 70, 80, 90, 107)
		r.Answer.Late.Add(0, 22*msec)
		r.Answer.Late.Add(5, 11*msec)
		c.Add(r)
	}
	s := c.Summary(1)
	for metric, want := range map[string][3]float64{"ttft": {28, 50, 50}, "tpot": {46.0 / 11, 57.0 / 11, 79.0 / 11}, "e2el": {96, 107, 107}} {
		least, most := Bounds(s, metric)
		for i, d := range []*metrics.Distribution{least, s.Latency(metric), most} {
			if math.Abs(d.Mean()-want[i]) > 1e-6 || math.Abs(d.Percentile(99)-want[i]) > 1e-6 {
				t.Errorf("%s: mean %v, want %v", metric, d.Mean(), want[i])
			}
		}
	}
}
