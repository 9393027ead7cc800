package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// merged is an answer of a token every 25 ms, of which the second came in one read with the third.
func merged() *record.Record {
	r := arrived(record.Record{Tokens: record.Tokens{Out: 5}}, 25, 75, 75, 100, 125)
	r.Answer.Late.Add(1, 24*msec)
	return r
}

// even is an answer of a token every 25 ms.
func even() *record.Record {
	return arrived(record.Record{Tokens: record.Tokens{Out: 5}}, 25, 50, 75, 100, 125)
}

// A chunk stamped 75 that came from 51 on: the gap before it is 26 to 50, the gap after it 0 to 24.
func TestMarkedChunksBoundPercentiles(t *testing.T) {
	for _, limit := range []int{0, 3} { // exact, and by histograms
		c := NewCollector(&Header{})
		c.Cap = limit
		for range 5 {
			c.Add(even())
		}
		other := NewCollector(&Header{})
		other.Cap = limit
		other.Add(merged())
		c.Merge(other, time.Second)
		s := c.Summary(1)
		if late := s.Truth.Late; late.Chunks != 1 || late.Of != 30 {
			t.Errorf("%d of %d chunks are marked, want 1 of 30", late.Chunks, late.Of)
		}
		for p, want := range map[float64][3]float64{0: {0, 0, 24}, 50: {25, 25, 25}, 100: {26, 50, 50}} {
			least, most, marked := s.LateITL(p)
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
	c, truth := NewCollector(&Header{}), NewCollector(&Header{})
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
		least, most, marked := s.LateITL(p)
		if v := want.ITL.Percentile(p); !marked || v < least || v > most {
			t.Errorf("P%v is %v, outside of %v to %v", p, v, least, most)
		}
	}
	if least, most, _ := s.LateITL(99); least == most {
		t.Error("the marks change nothing")
	}
}

func TestWithoutMarksThereAreNoBounds(t *testing.T) {
	c := NewCollector(&Header{})
	c.Add(even())
	if _, _, marked := c.Summary(1).LateITL(99); marked {
		t.Error("a run without marks has bounds")
	}
	if _, _, marked := Unknown().LateITL(99); marked {
		t.Error("a run without requests has bounds")
	}
}

// Older releases count a role, which moves the index of a marked chunk.
func TestMarksStayWithTheirChunks(t *testing.T) {
	r := chatRecord() // role 100, tokens 400 500 600, end 700
	r.Answer.Late.Add(0, 5*msec)
	r.Answer.Late.Add(2, 7*msec)
	older := Definitions030.Of(r)
	var got []int
	for i, by := range older.Answer.Late.All() {
		got = append(got, i, int(by/msec))
	}
	if want := []int{1, 5, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("index and milliseconds %v, want %v", got, want)
	}
	if len(Definitions030.Of(chatRecord()).Answer.Late) != 0 {
		t.Error("there is a mark where there was none")
	}
}

func TestDamagedMarksMarkNothing(t *testing.T) {
	for _, damaged := range []record.Marks{{1}, {0x80}, {1, 0x80}, slices.Repeat(record.Marks{0xff}, 30), {1, 1, 0xff}, {0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}} {
		r := merged()
		r.Answer.Late = damaged
		c := NewCollector(&Header{})
		c.Add(r) // and does not panic
		for i, by := range damaged.All() {
			if i != 1 || by != 1 {
				t.Errorf("%x marks %d by %d", damaged, i, by)
			}
		}
	}
	beyond := even()
	beyond.Answer.Late.Add(5, msec)
	c := NewCollector(&Header{})
	if c.Add(beyond); c.Summary(1).Truth.Late.Chunks != 0 {
		t.Error("a mark beyond the last chunk counts")
	}
}

// A first chunk that is marked bounds TTFT and TPOT, and a last one E2EL and TPOT, whatever the division of TPOT gives.
func TestMarkedEndsBoundTheOtherMetrics(t *testing.T) {
	c := NewCollector(&Header{})
	for range 30 {
		r := arrived(record.Record{Tokens: record.Tokens{Out: 12}}, 50, 60, 70, 80, 90, 107)
		r.Answer.Late.Add(0, 22*msec)
		r.Answer.Late.Add(5, 11*msec)
		c.Add(r)
	}
	s := c.Summary(1)
	for metric, want := range map[string][3]float64{"ttft": {28, 50, 50}, "tpot": {46.0 / 11, 57.0 / 11, 79.0 / 11}, "e2el": {96, 107, 107}} {
		least, most := s.LateBounds(metric)
		for i, d := range []*Distribution{least, s.Latency(metric), most} {
			if math.Abs(d.Mean()-want[i]) > 1e-6 || math.Abs(d.Percentile(99)-want[i]) > 1e-6 {
				t.Errorf("%s: mean %v, want %v", metric, d.Mean(), want[i])
			}
		}
	}
}
