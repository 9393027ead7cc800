package sessions

import (
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
)

// A graph is the turns of a recorded session, which wait for one another, and their times.
type graph struct {
	turns []dataset.Turn
	at    []time.Duration // of the turns
	ends  []time.Duration // of their recorded answers
}

// add adds a turn that was sent at a time.
func (g *graph) add(turn dataset.Turn, at time.Duration) {
	g.turns = append(g.turns, turn)
	g.at = append(g.at, at)
	g.ends = append(g.ends, dataset.Plus(at, dataset.Seconds(turn.Took)))
}

// times sets the times of the turns, which count from zero, and the gaps. It returns how many turns
// were sent before what they wait for had ended.
func (g *graph) times(zero time.Duration) (early int) {
	first := slices.Min(g.at)
	for i := range g.turns {
		turn := &g.turns[i]
		ready := first
		for _, wait := range turn.Waits {
			ready = max(ready, g.ends[wait.Turn])
		}
		if g.at[i] < ready {
			early++
		}
		turn.At = new(seconds(g.at[i] - zero))
		turn.Gap = seconds(max(0, g.at[i]-ready))
	}
	return early
}
