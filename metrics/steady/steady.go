// Package steady finds the part of a run in which its load was steady.
package steady

import (
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/tally"
)

// The samples of the number in flight in which to look for a steady state.
const (
	fewestSamples = 50 // least number that says anything: ten batches
	mostSamples   = 10_000
	batch         = 5 // samples
)

// State is the window in which a run was in a steady state, by the Trace. Its end is when the
// last measured request was sent: after that the load drains. Its start is where MSER-5 truncates
// the number of measured requests in flight. It takes one sample for each request, in equal steps
// from the first request sent to that end. MSER: White, An effective truncation heuristic for bias
// reduction in simulation output, Simulation 69(6), 1997; in batches of five: Spratt 1998, and
// White, Cobb, Spratt, A comparison of five steady-state truncation heuristics for simulation,
// Winter Simulation Conference 2000. It is false if there are fewer than fifty requests, or if the
// truncation point is in the second half.
func State(s *metrics.Summary) (metrics.Window, bool) {
	var sent tally.Extent
	var starts, ends []time.Duration
	for r := range s.Measured() {
		sent.Add(r.Times.Sent)
		starts, ends = append(starts, r.Times.Sent), append(ends, r.Times.End)
	}
	w := metrics.Window{From: sent.First, To: sent.Last}
	samples := min(len(starts), mostSamples) / batch * batch
	if samples < fewestSamples || w.From == w.To {
		return w, false
	}
	slices.Sort(starts)
	slices.Sort(ends)
	step := w.Seconds() / float64(samples)
	begun, ended := 0, 0
	means := make([]float64, samples/batch)
	for i := range samples {
		// In the middle of a step, or the first would see only the first request.
		at := w.From + seconds((float64(i)+0.5)*step)
		for begun < len(starts) && starts[begun] <= at {
			begun++
		}
		for ended < len(ends) && ends[ended] <= at {
			ended++
		}
		means[i/batch] += float64(begun-ended) / batch
	}
	at, ok := truncation(means)
	w.From += seconds(float64(at*batch) * step)
	return w, ok
}

// truncation is how many values MSER cuts off: the number that minimises the squared error of the
// mean of the rest, the sum of their squared deviations over the square of their number. It looks
// only at the first half, since a few values at the end prove nothing: a minimum at the half means
// that the true one is further, and is not found.
func truncation(values []float64) (n int, ok bool) {
	half := len(values) / 2
	least := math.Inf(1)
	mean, squares := 0.0, 0.0 // by Welford's recurrence, from the end
	for i := len(values) - 1; i >= 0; i-- {
		rest := float64(len(values) - i)
		off := values[i] - mean
		mean += off / rest
		squares += off * (values[i] - mean)
		if loss := squares / (rest * rest); i <= half && loss <= least {
			n, least = i, loss
		}
	}
	return n, n < half
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
