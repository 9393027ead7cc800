package targets

import (
	"maps"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/catalogue"
)

// A Sharing is what sharing did to one target.
type Sharing struct {
	Target string
	Shared *metrics.Summary // with the others loaded, too
	Alone  *metrics.Summary // nil if it was not loaded alone
}

// Measures are the numbers of a run that show interference, latencies first.
var Measures = catalogue.Chosen("mean_ttft", "median_ttft", "p99_ttft", "mean_tpot", "p99_tpot", "output_throughput",
	"request_throughput")

func meanTTFT() metrics.Number         { return Measures()[0] }
func meanTPOT() metrics.Number         { return Measures()[3] }
func outputThroughput() metrics.Number { return Measures()[5] }

// Slowdown is the ratio of latencies with the others to latencies alone, or of throughput alone to
// throughput with the others; NaN if one is unknown.
func (e *Sharing) Slowdown(m metrics.Number) float64 {
	if m.Better == metrics.Higher {
		return quotient(m.Value(e.Alone), m.Value(e.Shared))
	}
	return quotient(m.Value(e.Shared), m.Value(e.Alone))
}

// slowdownOf are the measures whose slowdown is a number of a shared run, by the names of Slowdowns.
var slowdownOf = map[string]func() metrics.Number{"mean_ttft_slowdown": meanTTFT, "mean_tpot_slowdown": meanTPOT,
	"output_slowdown": outputThroughput}

// Slowdowns are the slowdowns of a target with others against itself alone, in the same repeat. No run alone has one.
func Slowdowns() (all []metrics.Number) {
	for _, name := range slices.Sorted(maps.Keys(slowdownOf)) {
		of := slowdownOf[name]()
		all = append(all, metrics.Number{Name: name, Key: name, Label: of.Label + " slowdown", Head: of.Head + " slowdown",
			Unit: metrics.Times, Better: metrics.Lower, About: of.Name + " with the other targets, against the target alone",
			Of: func(*metrics.Summary) float64 { return math.NaN() }})
	}
	return all
}

// Slowed are the slowdowns of each run, by the names of Slowdowns; empty for a run alone.
func Slowed(sums []*metrics.Summary) []map[string]float64 {
	all := make([]map[string]float64, len(sums))
	for i, s := range sums {
		all[i] = map[string]float64{}
		if s.Header.Group == "" || s.Header.Solo {
			continue
		}
		at := slices.IndexFunc(sums, func(solo *metrics.Summary) bool {
			return solo.Header.Solo && solo.Header.Group == s.Header.Group && solo.Header.Target == s.Header.Target
		})
		if at < 0 {
			continue
		}
		pair := Sharing{Shared: s, Alone: sums[at]}
		for name, m := range slowdownOf {
			if v := pair.Slowdown(m()); v > 0 && !math.IsInf(v, 1) {
				all[i][name] = v
			}
		}
	}
	return all
}

// progress is the share of its solo output throughput that a target keeps.
func (e *Sharing) progress() float64 {
	n := outputThroughput()
	return quotient(n.Value(e.Shared), n.Value(e.Alone))
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
		in.fairness("output_throughput", func(e *Sharing) float64 {
			n := outputThroughput()
			return n.Value(e.Shared)
		})
		return in
	}
	in.fairness("progress", (*Sharing).progress)
	in.fairness("ttft_slowdown", func(e *Sharing) float64 { return e.Slowdown(meanTTFT()) })
	in.fairness("tpot_slowdown", func(e *Sharing) float64 { return e.Slowdown(meanTPOT()) })
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
	sent := pace.Of(s)
	achieved, least := sent.Kept()
	return sent.Due > 0 && sent.Sent > 0 && !pace.HeldBack(s) && achieved >= least
}

// A Paired is what sharing did to one target in several repeats. Each repeat has the target alone
// and with the others, so its slowdown is the ratio of one pair.
type Paired struct {
	Target  string
	Effects []Sharing // of each repeat

	// Bound reports that the request rate limits the throughput with the others in some repeat.
	Bound bool
}

// Pair collects what sharing did to each target in the groups, in the order of their first ones. It
// leaves out groups in which the target was not alone, and targets with fewer than two groups left.
func Pair(groups []Group) []Paired {
	var pairs []Paired
	for i := range groups {
		in := groups[i].Interference()
		for _, e := range in.Effects {
			if e.Alone == nil {
				continue
			}
			at := slices.IndexFunc(pairs, func(p Paired) bool { return p.Target == e.Target })
			if at < 0 {
				at, pairs = len(pairs), append(pairs, Paired{Target: e.Target})
			}
			p := &pairs[at]
			p.Effects, p.Bound = append(p.Effects, e), p.Bound || slices.Contains(in.Bound, e.Target)
		}
	}
	return slices.DeleteFunc(pairs, func(p Paired) bool { return len(p.Effects) < 2 })
}

// Few reports that the measure is the tail of too few samples in some run.
func (p *Paired) Few(m metrics.Number) bool {
	return slices.ContainsFunc(p.Effects, func(e Sharing) bool { return m.Few(e.Alone) || m.Few(e.Shared) })
}

// Slowdown is the geometric mean of the pairs' slowdowns, for which a slowdown and its inverse
// cancel, with the least and the most of them. All are NaN if one is unknown.
func (p *Paired) Slowdown(m metrics.Number) (mean, least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	logs := 0.0
	for i := range p.Effects {
		v := p.Effects[i].Slowdown(m)
		logs += math.Log(v)
		least, most = min(least, v), max(most, v)
	}
	return math.Exp(logs / float64(len(p.Effects))), least, most
}
