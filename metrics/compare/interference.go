package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// A Sharing is what sharing did to one target.
type Sharing struct {
	Target string
	Shared *metrics.Summary // with the others loaded, too
	Alone  *metrics.Summary // nil if it was not loaded alone
}

// A Measure is a number of a run that shows interference.
type Measure struct {
	Name string // as ttft or output_throughput
	Tail bool   // it is a P99
	Rate bool   // more is better

	latency func(*metrics.Summary) *metrics.Distribution // nil for a rate
	of      func(*metrics.Summary) float64
}

var (
	meanTTFT         = latencyMeasure("mean_ttft", ttft, (*metrics.Distribution).Mean)
	meanTPOT         = latencyMeasure("mean_tpot", tpot, (*metrics.Distribution).Mean)
	outputThroughput = Measure{Name: "output_throughput", Rate: true, of: func(s *metrics.Summary) float64 { return s.OutputThroughput }}
)

// Measures are the measures of an Effect, latencies first.
var Measures = []Measure{
	meanTTFT,
	latencyMeasure("median_ttft", ttft, (*metrics.Distribution).Median),
	latencyMeasure("p99_ttft", ttft, p99),
	meanTPOT,
	latencyMeasure("p99_tpot", tpot, p99),
	outputThroughput,
	{Name: "request_throughput", Rate: true, of: func(s *metrics.Summary) float64 { return s.RequestThroughput }},
}

func latencyMeasure(name string, latency func(*metrics.Summary) *metrics.Distribution, of func(*metrics.Distribution) float64) Measure {
	return Measure{Name: name, Tail: strings.HasPrefix(name, "p99"), latency: latency, of: func(s *metrics.Summary) float64 {
		if latency(s).Len() == 0 {
			return math.NaN()
		}
		return of(latency(s))
	}}
}

func ttft(s *metrics.Summary) *metrics.Distribution { return &s.TTFT }
func tpot(s *metrics.Summary) *metrics.Distribution { return &s.TPOT }
func p99(d *metrics.Distribution) float64           { return d.Percentile(99) }

// Of is the measure of a run: milliseconds, or tokens or requests a second. It is NaN if there are
// no samples, or no run.
func (m *Measure) Of(s *metrics.Summary) float64 {
	if s == nil {
		return math.NaN()
	}
	return m.of(s)
}

// Few reports that the measure is the tail of too few samples to decide anything.
func (m *Measure) Few(s *metrics.Summary) bool {
	if !m.Tail || s == nil || m.latency(s).Len() == 0 {
		return false
	}
	size := metrics.TailSize{Percentile: 99, N: m.latency(s).Len()}
	return size.Few()
}

// Slowdown is the ratio of latencies with the others to latencies alone, or of throughput alone to
// throughput with the others; NaN if one is unknown.
func (e *Sharing) Slowdown(m Measure) float64 {
	if m.Rate {
		return quotient(m.Of(e.Alone), m.Of(e.Shared))
	}
	return quotient(m.Of(e.Shared), m.Of(e.Alone))
}

// progress is the share of its solo output throughput that a target keeps.
func (e *Sharing) progress() float64 {
	return quotient(outputThroughput.Of(e.Shared), outputThroughput.Of(e.Alone))
}

// quotient is NaN if the divisor is 0.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// Fairness says how evenly something is spread over targets.
type Fairness struct {
	// Of is progress, the throughput shared/alone; output_throughput; or ttft_slowdown and
	// tpot_slowdown, of the means.
	Of    string
	Jain  float64 // Jain's index: 1 is even, 1/n is all for one of n
	Ratio float64 // of the largest to the smallest
}

// fairness is the fairness of values, NaN if one of them is unknown: Jain, Chiu, Hawe, A
// quantitative measure of fairness and discrimination for resource allocation in shared computer
// systems, DEC-TR-301, 1984.
func fairness(of string, values []float64) Fairness {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
		squares += v * v
	}
	f := Fairness{Of: of, Jain: math.NaN(), Ratio: math.NaN()}
	if squares > 0 {
		f.Jain = sum * sum / (float64(len(values)) * squares)
		f.Ratio = slices.Max(values) / slices.Min(values)
	}
	return f
}

// Interference is what targets did to each other.
type Interference struct {
	Effects  []Sharing  // in the order of the targets
	Fairness []Fairness // of their progress, and of their slowdowns if all were also alone
	Compared bool       // some target was loaded alone
	// Bound are targets that got requests at the requested rate, so that their throughput says
	// little.
	Bound []string
}

// Interference compares the shared runs with the solo runs.
func (g *Group) Interference() *Interference {
	in := &Interference{}
	all := true
	for _, s := range g.Shared {
		e := Sharing{Target: s.Header.Target, Shared: s}
		if i := slices.IndexFunc(g.Solo, func(solo *metrics.Summary) bool { return solo.Header.Target == e.Target }); i >= 0 {
			e.Alone = g.Solo[i]
		}
		in.Compared = in.Compared || e.Alone != nil
		all = all && e.Alone != nil
		if keptPace(s) {
			in.Bound = append(in.Bound, e.Target)
		}
		in.Effects = append(in.Effects, e)
	}
	if !all {
		in.fairness("output_throughput", func(e *Sharing) float64 { return outputThroughput.Of(e.Shared) })
		return in
	}
	in.fairness("progress", (*Sharing).progress)
	in.fairness("ttft_slowdown", func(e *Sharing) float64 { return e.Slowdown(meanTTFT) })
	in.fairness("tpot_slowdown", func(e *Sharing) float64 { return e.Slowdown(meanTPOT) })
	return in
}

func (in *Interference) fairness(of string, value func(*Sharing) float64) {
	var values []float64
	for i := range in.Effects {
		values = append(values, value(&in.Effects[i]))
	}
	in.Fairness = append(in.Fairness, fairness(of, values))
}

// keptPace reports that requests were sent at the requested rate.
func keptPace(s *metrics.Summary) bool {
	if s.Truth == nil {
		return false
	}
	achieved, least := s.Truth.Pace.Kept()
	return s.Truth.Pace.Due > 0 && s.Truth.Pace.Sent > 0 && !s.Truth.HeldBack() && achieved >= least
}
