package sweep

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// An estimate says how long the runs of a plan may take.
type estimate struct{ plan *Plan }

// runs is the most runs that a cell takes, unless probes of one value disagree.
func (e estimate) runs() int {
	if e.plan.Search == nil {
		return 1
	}
	return e.plan.Search.most()
}

// cell is the longest time that a cell may take, with the pauses before its runs. For a search
// it is the time of all probes, wherever the edge is.
func (e estimate) cell(c cell) time.Duration {
	s := e.plan.Search
	if s == nil {
		return e.plan.loads.first(c).time() + e.plan.Between.Pause
	}
	// Probes take longest if little is in flight, so if the edge is near the lowest value.
	longest := time.Duration(0)
	for _, highest := range []float64{0, s.From, (s.From + s.To) / 2, s.To} {
		longest = max(longest, e.search(c, highest))
	}
	return longest
}

// search is how long a search takes if probes pass up to a value.
func (e estimate) search(c cell, highest float64) (total time.Duration) {
	var history []probe
	for {
		value, over := e.plan.Search.next(history)
		load, err := e.plan.loads.at(c, value)
		if over || err != nil {
			return total
		}
		total += load.time() + e.plan.Between.Pause
		p := probe{value: value}
		if value <= highest {
			p.vote = passed
		}
		history = append(history, p)
	}
}

// repeat is how long one repeat may take, with the starts of the servers.
func (e estimate) repeat() (total time.Duration) {
	for arm := range e.plan.Arms {
		total += e.plan.Arms[arm].startTime()
		for _, point := range e.plan.pointsOf(arm) {
			total += e.cell(cell{arm: arm, point: point})
		}
	}
	return total
}

// count says how many runs there are, if so many are done and so many cells are left.
func (e estimate) count(done, left int) string {
	runs := metrics.Counted(done+left*e.runs(), "run")
	if (e.plan.Search != nil || e.plan.Sequential != nil) && left > 0 {
		runs = "up to " + runs
	}
	if done > 0 {
		runs += fmt.Sprintf(": %d done, %d to make", done, left*e.runs())
	}
	return runs
}

// assumptions are what the times of the plan's runs rest on.
func (e estimate) assumptions() string {
	found := []string{usualSpeed}
	for _, load := range e.plan.loads.of {
		if slices.ContainsFunc(load.targets(), func(t *loadgen.Plan) bool { return t.Traffic.MaxConcurrency == nil }) {
			found = append(found, fmt.Sprintf("%d requests at once", usualBatch))
			break
		}
	}
	simulated, real := false, false
	for _, arm := range e.plan.Arms {
		for _, s := range arm.Servers {
			simulated, real = simulated || s.simulated(), real || !s.simulated()
		}
	}
	if simulated {
		found = append(found, "a second to start a simulated server")
	}
	if real {
		found = append(found, "a minute to start a server")
	}
	if e.plan.Sequential != nil {
		found = append(found, "no disturbed pair, which is made again")
	}
	text := strings.Join(found, ", ")
	if e.plan.Search != nil {
		text += "; a " + e.plan.Search.Flag + " whose probes disagree takes more"
	}
	return text
}
