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
	"github.com/servebench/servebench/metrics/compare/gating"
)

// TooFew says that compare can give no verdict on two arms with so few repeats, how many it needs
// and how long they take. It is empty if there are enough.
func (p *Plan) TooFew() string {
	gate := gating.Default()
	needed := compare.InPairs.Needs(&gate, 1)
	if len(p.Arms) < 2 || p.Search != nil || p.Sequential != nil || p.Repeats >= needed {
		return ""
	}
	more, takes := needed-p.Repeats, "take"
	if more == 1 {
		takes = "takes"
	}
	return fmt.Sprintf("NO VERDICT with %s: to compare two arms, servebench compare needs %d; %d more %s about %s, "+
		"also later: the same command with %d repeats makes only those",
		metrics.Counted(p.Repeats, "repeat"), needed, more, takes, Roughly(time.Duration(more)*estimate{p}.repeat()), needed)
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
	past, err := openHistory(dir, p)
	if err != nil {
		return nil, err
	}
	e := estimate{p}
	c := &Cost{Assuming: e.assumptions()}
	for _, block := range past.expected() {
		block = slices.DeleteFunc(block, past.over)
		if len(block) > 0 {
			c.Time += p.Arms[block[0].arm].startTime()
		}
		for _, cell := range block {
			c.Runs += e.runs()
			c.Time += e.cell(cell)
			for _, target := range p.loads.first(cell).targets() {
				c.Bytes += int64(e.runs()) * recorded(target)
			}
		}
	}
	if left, known := past.left(); known {
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
	past, some := s.journal.history, ""
	switch {
	case s.Plan.Search != nil:
		some = "about "
	case s.Plan.Sequential != nil:
		some = "at most "
	}
	made, runs := len(past.entries)+1, len(s.Plan.loads.of)*estimate{s.Plan}.runs()
	line := fmt.Sprintf("[%d of %s%d] %s", made, some, max(runs, made), job.name)
	if left, known := past.left(); known && s.Plan.Sequential == nil {
		line += fmt.Sprintf("; about %s left", Roughly(left))
	}
	return line
}
