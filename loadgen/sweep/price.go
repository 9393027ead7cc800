package sweep

import (
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
)

// runs is the most runs that a cell takes, unless probes of one value disagree.
func (p *Plan) runs() int {
	if p.Search == nil {
		return 1
	}
	return p.Search.most()
}

// cellTime is the longest time that a cell may take, with the pauses before its runs. For a search
// it is the time of all probes, wherever the edge is.
func (p *Plan) cellTime(c cell) time.Duration {
	s := p.Search
	if s == nil {
		return p.loads[c].time() + p.Between.Pause
	}
	// Probes take longest if little is in flight, so if the edge is near the lowest value.
	longest := time.Duration(0)
	for _, highest := range []float64{0, s.From, (s.From + s.To) / 2, s.To} {
		longest = max(longest, p.searchTime(c, highest))
	}
	return longest
}

// searchTime is how long a search takes if probes pass up to a value.
func (p *Plan) searchTime(c cell, highest float64) (total time.Duration) {
	var history []probe
	for {
		value, over := p.Search.next(history)
		load, err := p.load(c, value)
		if over || err != nil {
			return total
		}
		total += load.time() + p.Between.Pause
		p := probe{value: value}
		if value <= highest {
			p.vote = passed
		}
		history = append(history, p)
	}
}

// TooFew says that compare can give no verdict on two arms with so few repeats, how many it needs
// and how long they take. It is empty if there are enough.
func (p *Plan) TooFew() string {
	gate := compare.DefaultGate()
	needed := gate.Needs(compare.InPairs, 1)
	if len(p.Arms) < 2 || p.Search != nil || p.Sequential != nil || p.Repeats >= needed {
		return ""
	}
	more, takes := needed-p.Repeats, "take"
	if more == 1 {
		takes = "takes"
	}
	return fmt.Sprintf("NO VERDICT with %s: to compare two arms, servebench compare needs %d; %d more %s about %s, also later: the same command with %d repeats makes only those",
		metrics.Counted(p.Repeats, "repeat"), needed, more, takes, roughly(time.Duration(more)*p.repeatTime()), needed)
}

// startTime is how long the arm's servers may take to start, one after the other. A
// simulated server loads no model.
func (a *Arm) startTime() (total time.Duration) {
	for _, s := range a.Servers {
		if s.simulated() {
			total += time.Second
		} else {
			total += usualStart
		}
	}
	return total
}

// simulated reports whether the command starts servebench sim.
func (s *Server) simulated() bool {
	return len(s.Command) > 1 && filepath.Base(s.Command[0]) == "servebench" && s.Command[1] == "sim"
}

// repeatTime is how long one repeat may take, with the starts of the servers.
func (p *Plan) repeatTime() (total time.Duration) {
	for arm := range p.Arms {
		total += p.Arms[arm].startTime()
		for _, point := range p.pointsOf(arm) {
			total += p.cellTime(cell{arm: arm, point: point})
		}
	}
	return total
}

// roughly is a time in a round number of its unit.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// progress says which run this is, and how long the rest may take.
func (s *Sweep) progress(job *Job) string {
	done, some := s.journal.entries, ""
	switch {
	case s.Plan.Search != nil:
		some = "about "
	case s.Plan.Sequential != nil:
		some = "at most "
	}
	line := fmt.Sprintf("[%d of %s%d] %s", len(done)+1, some, max(len(s.Plan.loads)*s.Plan.runs(), len(done)+1), job.name)
	if left, known := s.Plan.left(done); known && s.Plan.Sequential == nil {
		line += fmt.Sprintf("; about %s left", roughly(left))
	}
	return line
}

// left is how long the rest may take, from the actual and the expected times of the finished runs.
// A failed run says nothing about the others.
func (p *Plan) left(done []entry) (left time.Duration, known bool) {
	var took, of, rest float64 // seconds: actual and expected for finished runs, and expected for the rest
	expected := map[string]float64{}
	for c, load := range p.loads {
		seconds := load.time().Seconds()
		expected[p.key(c)] = seconds
		rest += seconds * float64(p.runs())
	}
	for _, e := range done {
		rest -= expected[e.Cell]
		if e.Failed == "" {
			took += e.Seconds
			of += expected[e.Cell]
		}
	}
	if took == 0 {
		return 0, false
	}
	return time.Duration(max(0, rest) * took / of * float64(time.Second)), true
}
