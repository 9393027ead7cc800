package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics/compare"
)

// What is taken for granted of a server that was not measured yet.
const (
	usualToken      = 20 * time.Millisecond // a token of every request in the batch
	usualPrefill    = 20_000.0              // prompt tokens a second
	usualBatch      = 256                   // requests at once
	usualLength     = 256                   // tokens where the dataset says them
	usualStart      = time.Minute           // of a server
	usualAssumption = "20 ms a token, 256 requests at once, 20000 prompt tokens a second, a minute to start a server"
)

// expected is how long a run may take: of each target alone, where that was asked
// for, and of all together.
func expected(o *options) time.Duration {
	if o.Targets == nil {
		return lasting(o)
	}
	var alone, together time.Duration
	for _, target := range o.Targets {
		alone += lasting(target)
		together = max(together, lasting(target))
	}
	if o.SoloFirst {
		return alone + together
	}
	return together
}

// lasting is how long the load of one target may take.
func lasting(o *options) time.Duration {
	in, out := usualLength, usualLength
	if o.Workload.Dataset == "random" {
		in, out = o.Workload.Random.InputLen+o.Workload.Random.PrefixLen, o.Workload.Random.OutputLen
	}
	n, batch := float64(max(o.Workload.NumPrompts, 1)+o.Traffic.Warmups), usualBatch
	if limit := o.Traffic.MaxConcurrency; limit != nil {
		batch = *limit
	}
	answer := float64(out) * usualToken.Seconds()
	seconds := math.Ceil(n/float64(batch))*answer + n*float64(in)/usualPrefill
	rate := o.Traffic.RequestRate
	if r := o.Traffic.RampUp; r != nil {
		rate = float64(r.Start+r.End) / 2
	}
	seconds = shaped(&o.Traffic, max(seconds, n/rate+answer), answer)
	took := o.Traffic.Delay + time.Duration(min(seconds, 1e9)*float64(time.Second))
	if limit := o.Limits.Deadline; limit > 0 {
		return min(took, limit)
	}
	return took
}

// shaped is what seconds of load become by its curve, its duration and its warm-up,
// where an answer takes so many.
func shaped(t *loadgen.Traffic, seconds, answer float64) float64 {
	if t.Curve != nil {
		seconds = max(seconds, t.Curve.End().Seconds()+answer)
	}
	if limit := t.Duration.Seconds() + answer; t.Duration > 0 && (limit < seconds || !t.Counted) {
		seconds = limit
	}
	return seconds + t.WarmUp.Seconds()
}

// cellTime is how long a cell may take at most, with the pauses before its runs: of a
// search that of its probes, wherever its edge may be.
func (c *sweepCommand) cellTime(cell sweep.Cell) time.Duration {
	s := c.plan.Search
	if s == nil {
		return expected(c.runs[cell]) + c.plan.Between.Pause
	}
	// Probes take longest where little is in flight, so at an edge near the lowest value.
	longest := time.Duration(0)
	for _, highest := range []float64{0, s.From, (s.From + s.To) / 2, s.To} {
		longest = max(longest, c.searchTime(cell, highest))
	}
	return longest
}

// searchTime is how long the probes of a search take that pass up to a value.
func (c *sweepCommand) searchTime(cell sweep.Cell, highest float64) (total time.Duration) {
	var history []sweep.Probe
	for {
		value, over := c.plan.Search.Next(history)
		o, err := c.parse(cell, value)
		if over || err != nil {
			return total
		}
		total += expected(o) + c.plan.Between.Pause
		history = append(history, sweep.Probe{Value: value, Passed: value <= highest})
	}
}

// runsOf is how many runs a cell of a plan takes at most, unless probes of one value
// disagree.
func runsOf(p *sweep.Plan) int {
	if p.Search == nil {
		return 1
	}
	return p.Search.Most()
}

// describe prints what would be run, in order.
func (c *sweepCommand) describe(file string) error {
	p := c.plan
	var total time.Duration
	var lines strings.Builder
	n := 0
	for _, block := range p.Blocks() {
		for i := range p.Arms[block[0].Arm].Servers {
			total += usualStart
			if i == 0 {
				fmt.Fprintf(&lines, "      start %s\n", p.Arms[block[0].Arm].Name)
			}
		}
		for _, cell := range block {
			n++
			took := c.cellTime(cell)
			total += took
			what := ""
			if p.Search != nil {
				what = fmt.Sprintf(", up to %s to find its %s", count(runsOf(p), "probe"), p.Search.Flag)
			}
			fmt.Fprintf(&lines, "%4d  %s, seed %d%s: some %s\n", n, p.Describe(cell), p.SeedOf(cell, 0), what, roughly(took))
		}
	}
	runs, assumption := count(n*runsOf(p), "run"), usualAssumption
	if p.Search != nil {
		runs = "up to " + runs
		assumption += "; more probes where those of one " + p.Search.Flag + " disagree"
	}
	_, err := fmt.Fprintf(c.out, "%s: %s, %s, %s: %s, some %s\n%sassuming %s\n%s", file, count(len(p.Arms), "arm"), count(len(p.Points), "point"),
		count(p.Repeats, "repeat"), runs, roughly(total), lines.String(), assumption, c.tooFew())
	return err
}

// tooFew says that compare can give no verdict on two arms with so few repeats, where
// that is so.
func (c *sweepCommand) tooFew() string {
	p, gate := c.plan, compare.DefaultGate()
	if len(p.Arms) < 2 || p.Search != nil {
		return ""
	}
	loads := 0 // that compare tells apart, of the arm with the most
	for arm := range p.Arms {
		blocks := 0
		for point := range p.Points {
			run := c.runs[sweep.Cell{Arm: arm, Point: point}]
			blocks += run.trials() / run.Repeat
		}
		loads = max(loads, blocks)
	}
	needed := gate.Needs(loads)
	if p.Repeats >= needed {
		return ""
	}
	return fmt.Sprintf("NO VERDICT by servebench compare: it needs at least %s to decide on %s, and there are %d\n",
		count(needed, "repeat"), count(loads*len(gate.Limits), "number"), p.Repeats)
}

// roughly is a time as one says it.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// A pace says how far a sweep is, and how long the rest may take by what was
// expected and what it took.
type pace struct {
	*sweepCommand
	cells map[string]sweep.Cell
	total int
}

func newPace(c *sweepCommand) pace {
	p := pace{sweepCommand: c, cells: map[string]sweep.Cell{}}
	for _, cell := range c.plan.Cells() {
		p.cells[c.plan.Key(cell)] = cell
		p.total += runsOf(c.plan)
	}
	return p
}

// line is said before a run.
func (p *pace) line(j *sweep.Journal, job *sweep.Job) string {
	done := j.Entries()
	some := ""
	if p.plan.Search != nil {
		some = "some "
	}
	line := fmt.Sprintf("[%d of %s%d] %s", len(done)+1, some, max(p.total, len(done)+1), job.Name)
	if left, known := p.left(done); known {
		line += fmt.Sprintf("; about %s left", roughly(left))
	}
	return line
}

// left is how long the rest may take. A run that failed says nothing of the others.
func (p *pace) left(done []sweep.Entry) (left time.Duration, known bool) {
	var took, expectedOfDone, expectedOfFailed, expectedOfAll float64
	for _, cell := range p.cells {
		expectedOfAll += p.seconds(cell) * float64(runsOf(p.plan))
	}
	for _, e := range done {
		seconds := p.seconds(p.cells[e.Cell])
		if e.Failed != "" {
			expectedOfFailed += seconds
			continue
		}
		took += e.Seconds
		expectedOfDone += seconds
	}
	if took == 0 {
		return 0, false
	}
	seconds := max(0, expectedOfAll-expectedOfDone-expectedOfFailed) * took / expectedOfDone
	return time.Duration(seconds * float64(time.Second)), true
}

func (p *pace) seconds(cell sweep.Cell) float64 { return expected(p.runs[cell]).Seconds() }
