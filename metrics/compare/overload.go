package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// overloaded are the numbers of the runs whose server did not keep up, from 1, and how
// much the backlog of the first of them grew.
func overloaded(runs []*Run) (numbers []string, why string) {
	for i, r := range runs {
		if r.Overloaded == "" {
			continue
		}
		if numbers == nil {
			why, _, _ = strings.Cut(r.Overloaded, ";")
		}
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return numbers, why
}

// anyOverloaded says whether a latency of the point is one that depends on how long a
// run was.
func (p *Point) anyOverloaded() bool {
	return slices.ContainsFunc(slices.Concat(p.Old, p.New), func(r *Run) bool { return r.Overloaded != "" })
}

// overloads says which side cannot hold the load, by more than half of its runs. That the
// new one alone cannot is a regression, however few the runs are, and that the old one
// alone cannot is better. The other latencies of such runs are not judged.
func (j *judge) overloads(p *Point) {
	old, was := overloaded(p.Old)
	new, is := overloaded(p.New)
	oldSide, newSide := 2*len(old) > len(p.Old), 2*len(new) > len(p.New)
	load := "the load"
	if rate := shown(p.New, "request-rate"); shown(p.Old, "request-rate") == rate {
		load = rate + " req/s"
	}
	switch {
	case old == nil && new == nil:
	case newSide && !oldSide && j.sound(p):
		j.regress(p, "the new runs cannot hold %s any more: %s (%s of them)", load, is, of(new, p.New))
	case oldSide && new == nil:
		p.Better = append(p.Better, "holds "+load)
		j.note(p, "the old runs could not hold %s: %s (%s of them); latencies are not judged", load, was, of(old, p.Old))
	case j.gatesLatency():
		for _, side := range []struct {
			name    string
			numbers []string
			why     string
		}{{"old", old, was}, {"new", new, is}} {
			if side.numbers != nil {
				j.doubt(p, "%s run %s: OVERLOADED: %s: latencies are not judged", side.name, strings.Join(side.numbers, ", "), side.why)
			}
		}
	default:
		j.note(p, "runs of both sides, or some of one, are OVERLOADED: latencies are not judged")
	}
}

// of is how many of the runs they are.
func of(numbers []string, runs []*Run) string {
	return fmt.Sprintf("%d of %d", len(numbers), len(runs))
}

// sound says whether the sides were put under the same load, by clients that can be
// believed.
func (j *judge) sound(p *Point) bool {
	doubtful := func(r *Run) bool { return len(r.Gaps) > 0 || len(r.Doubts) > 0 && !j.despite("suspect") }
	return !slices.ContainsFunc(slices.Concat(p.Old, p.New), doubtful) && len(Differences(p.Old, p.New, j.gate.Despite)) == 0
}

// gatesLatency says whether a latency is gated.
func (j *judge) gatesLatency() bool {
	return slices.ContainsFunc(j.gate.Limits, func(l Limit) bool { return l.Metric.latency != "" }) ||
		slices.ContainsFunc(j.gate.Bounds, func(b Bound) bool { return b.Metric.latency != "" })
}
