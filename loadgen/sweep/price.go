package sweep

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
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

// Describe writes what the plan would run, in order, and how long it may take.
func (p *Plan) Describe(w io.Writer, file string) error {
	var total time.Duration
	var lines strings.Builder
	n := 0
	for _, block := range p.blocks() {
		arm := &p.Arms[block[0].arm]
		if len(arm.Servers) > 0 {
			total += arm.startTime()
			fmt.Fprintf(&lines, "      start %s\n", arm.Name)
		}
		for _, c := range block {
			n++
			took := p.cellTime(c)
			total += took
			what := ""
			if p.Search != nil {
				what = fmt.Sprintf(", up to %s to find its %s", metrics.Counted(p.runs(), "probe"), p.Search.Flag)
			}
			fmt.Fprintf(&lines, "%4d  %s, seed %d%s: about %s\n", n, p.describe(c), p.seedOf(c, 0), what, roughly(took))
		}
	}
	runs, assumption := metrics.Counted(n*p.runs(), "run"), usualAssumption
	if p.Search != nil {
		runs = "up to " + runs
		assumption += "; a " + p.Search.Flag + " whose probes disagree takes more"
	}
	few := p.TooFew()
	if few != "" {
		few += "\n"
	}
	_, err := fmt.Fprintf(w, "%s: %s, %s, %s: %s, about %s\n%sassuming %s\n%s", file, metrics.Counted(len(p.Arms), "arm"),
		metrics.Counted(len(p.Points), "load"), metrics.Counted(p.Repeats, "repeat"), runs, roughly(total), lines.String(), assumption, few)
	return err
}

// TooFew says that compare can give no verdict on two arms with so few repeats, how many it needs
// and how long they take. It is empty if there are enough.
func (p *Plan) TooFew() string {
	gate := compare.DefaultGate()
	if len(p.Arms) < 2 || p.Search != nil {
		return ""
	}
	loads := 0 // that compare distinguishes, in the arm with the most
	for arm := range p.Arms {
		trials := 0
		for point := range p.Points {
			plan := *p.loads[cell{arm: arm, point: point}].Plan
			plan.Repeat = 1
			trials += plan.Trials()
		}
		loads = max(loads, trials)
	}
	needed := gate.Needs(loads)
	if p.Repeats >= needed {
		return ""
	}
	numbers := metrics.Counted(loads*len(gate.Limits), "gated number")
	if loads > 1 {
		numbers += fmt.Sprintf(" (%d for each of %d loads)", len(gate.Limits), loads)
	}
	more := needed - p.Repeats
	return fmt.Sprintf("NO VERDICT with %s: to compare two arms by %s, servebench compare needs %d; %d more take about %s, also later: the same command with %d repeats makes only those",
		metrics.Counted(p.Repeats, "repeat"), numbers, needed, more, roughly(time.Duration(more)*p.repeatTime()), needed)
}

// startTime is how long the arm's servers may take to start, one after the other. A
// simulated server loads no model.
func (a *Arm) startTime() (total time.Duration) {
	for _, s := range a.Servers {
		if len(s.Command) > 1 && filepath.Base(s.Command[0]) == "servebench" && s.Command[1] == "sim" {
			total += time.Second
		} else {
			total += usualStart
		}
	}
	return total
}

// repeatTime is how long one repeat may take, with the starts of the servers.
func (p *Plan) repeatTime() (total time.Duration) {
	for arm := range p.Arms {
		total += p.Arms[arm].startTime()
		for point := range p.Points {
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
	if s.Plan.Search != nil {
		some = "about "
	}
	line := fmt.Sprintf("[%d of %s%d] %s", len(done)+1, some, max(len(s.Plan.loads)*s.Plan.runs(), len(done)+1), job.name)
	if left, known := s.Plan.left(done); known {
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
