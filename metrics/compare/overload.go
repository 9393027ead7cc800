package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// overloaded lists the numbers, from 1, of the runs whose server did not keep up, and says
// how much the backlog of the first of them grew.
func overloaded(runs []*brief.Run) (numbers []string, why string) {
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

// anyOverloaded reports that the server of a run did not keep up. The run's latencies then depend
// on its length.
func (s *Sides) anyOverloaded() bool {
	return slices.ContainsFunc(slices.Concat(s.Old, s.New), func(r *brief.Run) bool { return r.Overloaded != "" })
}

// overloads finds a side of which more than half of the runs cannot keep up with the load. If only
// the new side cannot, that is a regression, with any number of runs. If only the old side could
// not, that is an improvement. Other latencies of such runs are not judged.
func (j *judge) overloads(p *Point) {
	old, was := overloaded(p.Old)
	new, is := overloaded(p.New)
	oldSide, newSide := 2*len(old) > len(p.Old), 2*len(new) > len(p.New)
	load := "the load"
	if rate := asked.Text(brief.Asked(p.New), "request-rate"); asked.Text(brief.Asked(p.Old), "request-rate") == rate {
		load = rate + " req/s"
	}
	switch {
	case old == nil && new == nil:
	case newSide && !oldSide && j.sound(p):
		j.regress(p, "the new runs cannot hold %s any more: %s (%s of them)", load, is, of(new, p.New))
	case oldSide && new == nil:
		p.Better = append(p.Better, "holds "+load)
		j.note(p, "the old runs could not hold %s: %s (%s of them); latencies are not judged", load, was, of(old, p.Old))
	case j.gate.GatesLatency():
		for _, side := range []struct {
			name    string
			numbers []string
			of      int
			why     string
		}{{"old", old, len(p.Old), was}, {"new", new, len(p.New), is}} {
			if side.numbers != nil {
				j.doubt(p, "%s: OVERLOADED: %s: latencies are not judged", which(side.name, side.numbers, side.of), side.why)
			}
		}
	default:
		j.note(p, "runs of both sides, or some of one, are OVERLOADED: latencies are not judged")
	}
}

// of writes how many of the runs have these numbers.
func of(numbers []string, runs []*brief.Run) string {
	return fmt.Sprintf("%d of %d", len(numbers), len(runs))
}

// sound reports that both sides had the same load from trusted clients.
func (j *judge) sound(p *Point) bool {
	doubtful := func(r *brief.Run) bool { return len(r.Gaps) > 0 || len(r.Doubts) > 0 && !j.gate.Allows("suspect") }
	return !slices.ContainsFunc(slices.Concat(p.Old, p.New), doubtful) &&
		len(asked.Differences(brief.Asked(p.Old), brief.Asked(p.New), j.gate.Despite)) == 0
}
