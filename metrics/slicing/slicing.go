// Package slicing cuts a run into equal parts, and gathers what its server and its GPUs reported in each.
package slicing

import (
	"fmt"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/record"
)

// maxSlices is the most parts that a run can be cut into.
const maxSlices = 100_000

// Slice cuts the measured part of the run into parts of that width, using the Trace; the last part
// may be shorter. Requests without single chunk times have no ITL. Without a Trace or a duration
// there are no slices; too many slices are an error.
func Slice(s *metrics.Summary, width time.Duration) ([]metrics.Slice, error) {
	whole := s.Whole()
	took := whole.To - whole.From
	if s.Kept.Trace == nil || took <= 0 {
		return nil, nil
	}
	n := (took-1)/width + 1
	if n > maxSlices {
		return nil, fmt.Errorf("%s make %d slices of %s: at most %d are allowed, so take %s or more", took, n, width,
			maxSlices, (took-1)/maxSlices+1)
	}
	c := slicer{whole: whole, width: width, slices: make([]metrics.Slice, n)}
	for i := range c.slices {
		from := whole.From + time.Duration(i)*width
		c.slices[i].Window = metrics.Window{From: from, To: min(from+width, whole.To)}
	}
	c.fill(s)
	return c.slices, nil
}

// A slicer fills Slices.
type slicer struct {
	whole  metrics.Window
	width  time.Duration
	slices []metrics.Slice
	values [4][][]float64 // of TTFT, TPOT, ITL and E2EL in each slice, in seconds
	busy   []time.Duration
	full   []int // change in the requests in flight throughout a slice
}

func (c *slicer) fill(s *metrics.Summary) {
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
		for k, spread := range []*metrics.Spread{&slice.TTFT, &slice.TPOT, &slice.ITL, &slice.E2EL} {
			*spread = spreadOf(c.values[k][i])
		}
	}
	c.see(s.Kept.Trace.Samples, processes.Why(s) == "")
	for i := range c.slices {
		slice := &c.slices[i]
		if power := gpus.Power(s); len(power) > 0 {
			if e := power.Energy(slice.From, slice.To); e.Unknown == "" {
				slice.Seen.GPUEnergy = &e.Joules
			}
		}
	}
}

// at is the slice of a time; a time outside the run is in the nearest slice.
func (c *slicer) at(t time.Duration) int {
	return min(max(int((t-c.whole.From)/c.width), 0), len(c.slices)-1)
}

func (c *slicer) put(kind int, at, latency time.Duration) {
	i := c.at(at)
	c.values[kind][i] = append(c.values[kind][i], latency.Seconds())
}

func (c *slicer) take(r *record.Record) {
	c.slices[c.at(r.Times.Sent)].Sent++
	c.stay(r.Times.Sent, r.Times.End)
	done := c.at(r.Done())
	if r.Result.Class != record.OK {
		c.slices[done].Failed++
		return
	}
	c.slices[done].Completed++
	c.slices[done].Input += r.Tokens.In
	a := record.Attribute(r)
	for at, tokens := range a.Arrivals(r) {
		c.slices[c.at(at)].Output += tokens
	}
	c.put(3, r.Done(), r.E2EL())
	if r.Answer.Unstreamed {
		return
	}
	c.put(0, r.Answer.Chunks.First(), r.TTFT())
	if r.Tokens.Out > 1 {
		c.put(1, r.Done(), r.TPOT())
	}
	at := r.Answer.Chunks.First()
	for gap := range r.Answer.Chunks.Gaps() {
		at += gap
		c.put(2, at, gap)
	}
}

// stay counts a request as in flight from one time to another.
func (c *slicer) stay(from, to time.Duration) {
	first, last := c.at(from), c.at(to)
	for _, i := range slices.Compact([]int{first, last}) {
		if here := c.slices[i].Meet(metrics.Window{From: from, To: to}); here.From < here.To {
			c.busy[i] += here.To - here.From
		}
	}
	if last > first+1 {
		c.full[first+1]++
		c.full[last]--
	}
}

// spreadOf sorts the values, which are in seconds.
func spreadOf(values []float64) metrics.Spread {
	slices.Sort(values)
	return metrics.Spread{N: len(values), Mean: numpy.Mean(values) * 1000, P99: numpy.Percentile(values, 99) * 1000}
}
