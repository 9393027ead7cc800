package sweep

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen"
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
		return p.loadOf(c).time() + p.Between.Pause
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
	return fmt.Sprintf("NO VERDICT with %s: to compare two arms, servebench compare needs %d; %d more %s about %s, "+
		"also later: the same command with %d repeats makes only those",
		metrics.Counted(p.Repeats, "repeat"), needed, more, takes, Roughly(time.Duration(more)*p.repeatTime()), needed)
}

// A Cost is what the runs that are left may take.
type Cost struct {
	Runs     int
	Time     time.Duration // with the starts of the servers
	Assuming string        // what Time rests on
	Bytes    int64         // of the record stream
}

// Record lines, measured with the usual settings: a request, and a token of its answer.
const (
	requestBytes = 300
	tokenBytes   = 9
)

// Cost is what the runs may take that the folder dir does not have yet: by the times of the finished
// runs, if there are any. A folder of another experiment is an error.
func (p *Plan) Cost(dir string) (*Cost, error) {
	done, err := p.done(dir)
	if err != nil {
		return nil, err
	}
	c := &Cost{Assuming: p.assumptions()}
	for _, block := range p.expected(done) {
		block = slices.DeleteFunc(block, func(c cell) bool { return p.over(c, done) })
		if len(block) > 0 {
			c.Time += p.Arms[block[0].arm].startTime()
		}
		for _, cell := range block {
			c.Runs += p.runs()
			c.Time += p.cellTime(cell)
			for _, target := range p.loadOf(cell).targets() {
				c.Bytes += int64(p.runs()) * recorded(target)
			}
		}
	}
	if left, known := p.left(done); known {
		c.Time, c.Assuming = left, "they take as long as the finished runs"
	}
	return c, nil
}

// recorded is about how many bytes of the record stream a run on one target takes.
func recorded(p *loadgen.Plan) int64 {
	if s, ok := p.Size(context.Background()); ok {
		return int64(s.Sessions*requestBytes) + int64(s.Output*tokenBytes)
	}
	n := p.Workload.NumPrompts
	if sized, err := p.Sized(); err == nil {
		n = sized.Workload.NumPrompts
	}
	_, out := lengths(p)
	return int64(n) * int64(requestBytes+out*tokenBytes)
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

// Simulated reports whether no arm has a server that is not servebench sim, as far as is known.
func (p *Plan) Simulated() bool {
	return !slices.ContainsFunc(p.Arms, func(a Arm) bool {
		return a.Servers == nil || slices.ContainsFunc(a.Servers, func(s Server) bool { return !s.simulated() })
	})
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

// Roughly is a time in a round number of its unit.
func Roughly(d time.Duration) string {
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
		line += fmt.Sprintf("; about %s left", Roughly(left))
	}
	return line
}

// left is how long the rest may take, from the actual and the expected times of the finished runs.
// A failed run says nothing about the others.
func (p *Plan) left(done []entry) (left time.Duration, known bool) {
	var took, of, rest float64 // seconds: actual and expected for finished runs, and expected for the rest
	expected := map[string]float64{}
	for _, block := range p.expected(done) {
		for _, c := range block {
			expected[p.key(c)] = p.loadOf(c).time().Seconds()
			rest += expected[p.key(c)] * float64(p.runs())
		}
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
