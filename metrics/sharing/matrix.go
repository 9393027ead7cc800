package sharing

import (
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/targets"
)

// everyone is the name of all targets together, which no target can have.
const everyone = "(all)"

// A Matrix is how many times as slow each target is with others as alone, by one measure.
type Matrix struct {
	Measure metrics.Number
	Targets []string
	With    []string // the columns: the targets and, if there are more than two, "(all)"
	Rows    []Row    // one for each target
}

// A Row is the target that suffers.
type Row struct {
	Target string
	Alone  float64 // geometric mean of the measure alone, in its unit
	Few    bool    // the measure is the tail of too few samples in some run

	// Slower is for each column how many times as slow the target is with it: latency with it over
	// latency alone, or throughput alone over throughput with it. It is the geometric mean of the
	// repeats' ratios, and the interval is Student's t of their logarithms. It is NaN for the target
	// itself, and where nothing was measured.
	Slower []Mean
}

// measures are the measures of a matrix.
var measures = []string{"mean_ttft", "mean_tpot", "output_throughput"}

// Matrices are the matrices of mean TTFT, mean TPOT and output throughput; nil if no target was
// loaded alone.
func (l *Load) Matrices() (all []Matrix) {
	alone := slices.ContainsFunc(l.Groups, func(g targets.Group) bool { return len(g.Solo) > 0 })
	if !alone {
		return nil
	}
	for _, m := range targets.Measures() {
		if slices.Contains(measures, m.Name) {
			all = append(all, l.matrix(m))
		}
	}
	return all
}

// Paired reports that targets were loaded in pairs.
func (l *Load) Paired() bool {
	return slices.ContainsFunc(l.Groups, func(g targets.Group) bool { return len(g.Pairs) > 0 })
}

func (l *Load) matrix(m metrics.Number) Matrix {
	x := Matrix{Measure: m, Targets: l.targets()}
	x.With = slices.Clone(x.Targets)
	if len(x.Targets) > 2 {
		x.With = append(x.With, everyone)
	}
	for _, target := range x.Targets {
		row := Row{Target: target}
		var logs []float64
		for i := range l.Groups {
			s := alone(&l.Groups[i], target)
			if v := m.Value(s); v > 0 {
				logs = append(logs, math.Log(v))
			}
			row.Few = row.Few || m.Few(s)
		}
		row.Alone = math.Exp(meanOf(logs).Value)
		for _, with := range x.With {
			row.Slower = append(row.Slower, l.slower(m, target, with))
		}
		x.Rows = append(x.Rows, row)
	}
	return x
}

// slower is how many times as slow a target is with others, over the repeats that know it.
func (l *Load) slower(m metrics.Number, target, with string) Mean {
	var logs []float64
	for i := range l.Groups {
		pair := targets.Sharing{Shared: together(&l.Groups[i], target, with), Alone: alone(&l.Groups[i], target)}
		if v := pair.Slowdown(m); v > 0 && !math.IsInf(v, 1) {
			logs = append(logs, math.Log(v))
		}
	}
	return meanOf(logs).each(math.Exp)
}

// targets are the names of the targets.
func (l *Load) targets() (names []string) {
	for _, s := range l.Groups[0].Shared {
		names = append(names, s.Header.Target)
	}
	return names
}

// alone is the run of a target alone; nil if there is none.
func alone(g *targets.Group, target string) *metrics.Summary {
	return find(g.Solo, func(h *metrics.Header) bool { return h.Target == target })
}

// together is the run of a target with another one, or with everyone; nil if there is none. With two
// targets, the other one is all.
func together(g *targets.Group, target, with string) *metrics.Summary {
	switch {
	case with == target:
		return nil
	case with == everyone || len(g.Shared) == 2:
		return find(g.Shared, func(h *metrics.Header) bool { return h.Target == target })
	}
	return find(g.Pairs, func(h *metrics.Header) bool { return h.Target == target && h.With == with })
}

func find(sums []*metrics.Summary, is func(*metrics.Header) bool) *metrics.Summary {
	if i := slices.IndexFunc(sums, func(s *metrics.Summary) bool { return is(s.Header) }); i >= 0 {
		return sums[i]
	}
	return nil
}

// An Evenness is how evenly targets share, over the repeats.
type Evenness struct {
	Of   string // as in targets.Fairness
	Jain Mean   // of Jain's index
}

// Evenness is Jain's index with an interval for each thing that targets.Interference has the fairness
// of. Each repeat has its own index, with which Student's t interval is made; its ends are kept to
// the range of the index, from 1/n to 1 (Jain, Chiu, Hawe, DEC-TR-301, 1984). Noise makes targets
// look uneven, so for targets that share evenly the mean is a little below 1.
func (l *Load) Evenness() (all []Evenness) {
	indices := map[string][]float64{}
	var names []string
	for i := range l.Groups {
		for _, f := range l.Groups[i].Interference().Fairness {
			if _, known := indices[f.Of]; !known {
				names = append(names, f.Of)
			}
			indices[f.Of] = append(indices[f.Of], f.Jain)
		}
	}
	least := 1 / float64(len(l.Groups[0].Shared))
	for _, name := range names {
		within := func(v float64) float64 { return min(max(v, least), 1) }
		all = append(all, Evenness{name, meanOf(indices[name]).each(within)})
	}
	return all
}
