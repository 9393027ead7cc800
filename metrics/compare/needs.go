package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/stats"
)

// LeastPairs and leastInOrder are the fewest units a side with which pairs, and one side after the
// other, are judged. Fewer do not show how much they vary, or drift.
const (
	LeastPairs   = 3
	leastInOrder = 6
	// If the machine changed at one moment, it did so exactly between the sides in 1 of 2n cases with n units a
	// side, and nothing tells that from a change of the server. Fewer than 10 a side say that none got worse, but
	// not that one did: a step would be a false alarm in more than 5 % of the cases.
	worseInOrder = 10
)

// Needs is the least number of units a side of this design to decide on all limits of a gate at so many
// points. It is 0 if the gate limits no change.
func (d Design) Needs(g *gating.Gate, points int) int {
	tests := len(g.Limits) * points
	switch {
	case tests == 0:
		return 0
	case d == InPairs:
		return LeastPairs
	case d == Chain:
		return leastSessions
	case d == InTurns:
		return stats.Needed(g.Level(), tests)
	}
	return leastInOrder
}

// DescribeGate writes what a gate looks at, and how many units a side it takes for each load.
func DescribeGate(w io.Writer, g *gating.Gate) error {
	names := []string{"failed requests"}
	for _, l := range g.Limits {
		names = append(names, l.Number.Name)
	}
	for _, b := range g.Bounds {
		names = append(names, "the bound of "+b.Number.Name)
	}
	takes := "1 run a side"
	if len(g.Limits) > 0 {
		p := Point{arrangement: arrangement{unit: g.Counted()}}
		takes = fmt.Sprintf("%d pairs, or %d %s in turns, or %d one after the other", LeastPairs, InTurns.Needs(g, 1),
			p.aSide(2), leastInOrder)
	}
	_, err := fmt.Fprintf(w, "gated: %s\ntakes for each load: %s\n", strings.Join(names, ", "), takes)
	return err
}
