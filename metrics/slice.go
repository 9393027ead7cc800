package metrics

import (
	"fmt"
	"slices"
	"time"
)

// maxSlices is the most parts that a run can be cut into.
const maxSlices = 100_000

// A Slice is one of equal parts of a run. A value counts in the slice in which it was complete. A
// slice includes its beginning but not its end, except for the last slice.
type Slice struct {
	Window
	Sent, Completed, Failed int     // requests
	InFlight                float64 // measured requests, mean over the slice
	Input                   int     // prompt tokens of the requests completed
	Output                  int     // output tokens of requests that completed then or later

	// Latencies are of requests that completed. TTFT counts in the slice of the first chunk, ITL in
	// the slice of each chunk, TPOT and E2EL in the slice of the last chunk.
	TTFT, TPOT, ITL, E2EL Spread
	Seen                  Seen // what the server reported during the slice
}

// A Spread is a latency within a Slice, in milliseconds; NaN without values.
type Spread struct {
	N         int
	Mean, P99 float64
}

// Slice cuts the measured part of the run into parts of that width, using the Trace; the last part
// may be shorter. Requests without single chunk times have no ITL. Without a Trace or a duration
// there are no slices; too many slices are an error.
func (s *Summary) Slice(width time.Duration) ([]Slice, error) {
	whole := s.Whole()
	took := whole.To - whole.From
	if s.Trace == nil || took <= 0 {
		return nil, nil
	}
	n := (took-1)/width + 1
	if n > maxSlices {
		return nil, fmt.Errorf("%s make %d slices of %s: at most %d are allowed, so take %s or more", took, n, width, maxSlices, (took-1)/maxSlices+1)
	}
	c := slicer{whole: whole, width: width, slices: make([]Slice, n)}
	for i := range c.slices {
		from := whole.From + time.Duration(i)*width
		c.slices[i].Window = Window{from, min(from+width, whole.To)}
	}
	c.fill(s)
	return c.slices, nil
}

// A slicer fills Slices.
type slicer struct {
	whole  Window
	width  time.Duration
	slices []Slice
	values [4][][]float64 // of TTFT, TPOT, ITL and E2EL in each slice, in seconds
	busy   []time.Duration
	full   []int // change in the requests in flight throughout a slice
}

func (c *slicer) fill(s *Summary) {
	n := len(c.slices)
	c.busy, c.full = make([]time.Duration, n), make([]int, n+1)
	for i := range c.values {
		c.values[i] = make([][]float64, n)
	}
	for r := range s.Measured() {
		c.take(r)
	}
	throughout := 0
	for i := range c.slices {
		slice := &c.slices[i]
		throughout += c.full[i]
		slice.InFlight = float64(throughout) + c.busy[i].Seconds()/slice.Seconds()
		for k, spread := range []*Spread{&slice.TTFT, &slice.TPOT, &slice.ITL, &slice.E2EL} {
			*spread = spreadOf(c.values[k][i])
		}
	}
	c.see(s.Trace.Samples, s.WhyMixed() == "")
}

// at is the slice of a time; a time outside the run is in the nearest slice.
func (c *slicer) at(t time.Duration) int {
	return min(max(int((t-c.whole.From)/c.width), 0), len(c.slices)-1)
}

func (c *slicer) put(kind int, at, latency time.Duration) {
	i := c.at(at)
	c.values[kind][i] = append(c.values[kind][i], latency.Seconds())
}

func (c *slicer) take(r *Record) {
	c.slices[c.at(r.Sent)].Sent++
	c.stay(r.Sent, r.End)
	done := c.at(r.done())
	if r.Class != OK {
		c.slices[done].Failed++
		return
	}
	c.slices[done].Completed++
	c.slices[done].Input += r.In
	a := r.attribute()
	for at, tokens := range r.arrivals(&a) {
		c.slices[c.at(at)].Output += tokens
	}
	c.put(3, r.done(), r.E2EL())
	if r.Whole {
		return
	}
	c.put(0, r.Chunks.First(), r.TTFT())
	if r.Out > 1 {
		c.put(1, r.done(), r.TPOT())
	}
	at := r.Chunks.First()
	for gap := range r.Chunks.Gaps() {
		at += gap
		c.put(2, at, gap)
	}
}

// stay counts a request as in flight from one time to another.
func (c *slicer) stay(from, to time.Duration) {
	first, last := c.at(from), c.at(to)
	for _, i := range slices.Compact([]int{first, last}) {
		if here := c.slices[i].Meet(Window{from, to}); here.From < here.To {
			c.busy[i] += here.To - here.From
		}
	}
	if last > first+1 {
		c.full[first+1]++
		c.full[last]--
	}
}

// spreadOf sorts the values, which are in seconds.
func spreadOf(values []float64) Spread {
	slices.Sort(values)
	return Spread{N: len(values), Mean: Mean(values) * 1000, P99: Percentile(values, 99) * 1000}
}
