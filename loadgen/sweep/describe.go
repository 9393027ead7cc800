package sweep

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/screen"
)

// Describe writes what the plan would run, in order, and how long it may take. It leaves out runs
// that the folder dir has already. A folder of another experiment is an error.
func (p *Plan) Describe(w io.Writer, file, dir string) error {
	done, err := p.done(dir)
	if err != nil {
		return err
	}
	left, total := 0, time.Duration(0)
	var lines strings.Builder
	for _, block := range p.expected(done) {
		arm := &p.Arms[block[0].arm]
		block = slices.DeleteFunc(block, func(c cell) bool { return p.over(c, done) })
		if len(block) > 0 && len(arm.Servers) > 0 {
			total += arm.startTime()
			fmt.Fprintf(&lines, "      start %s\n", arm.Name)
		}
		for _, c := range block {
			left++
			took := p.cellTime(c)
			total += took
			what := ""
			if p.Search != nil {
				what = fmt.Sprintf(", up to %s to find its %s", metrics.Counted(p.runs(), "probe"), p.Search.Flag)
			}
			fmt.Fprintf(&lines, "%4d  %s, seed %d%s: about %s\n", len(done)+left, p.describe(c), p.seedOf(c, 0), what,
				Roughly(took))
		}
	}
	repeats := metrics.Counted(p.Repeats, "repeat")
	if p.Sequential != nil {
		repeats = fmt.Sprintf("at most %d pairs", p.Repeats)
	}
	few := p.TooFew()
	if few != "" {
		few += "\n"
	}
	return screen.Of(w).Say(w, fmt.Sprintf("%s: %s, %s, %s: %s, about %s\n%sassuming %s\n%s", file,
		metrics.Counted(len(p.Arms), "arm"),
		metrics.Counted(len(p.Points), "load"), repeats, p.count(len(done), left), Roughly(total), lines.String(),
		p.assumptions(), few))
}

// over reports whether a cell has all its runs.
func (p *Plan) over(c cell, done []entry) bool {
	past := slices.DeleteFunc(slices.Clone(done), func(e entry) bool { return e.Cell != p.key(c) })
	if p.Search == nil {
		return len(past) > 0
	}
	_, over := p.Search.next(probes(past))
	return over
}

// count says how many runs there are, if so many are done and so many cells are left.
func (p *Plan) count(done, left int) string {
	runs := metrics.Counted(done+left*p.runs(), "run")
	if (p.Search != nil || p.Sequential != nil) && left > 0 {
		runs = "up to " + runs
	}
	if done > 0 {
		runs += fmt.Sprintf(": %d done, %d to make", done, left*p.runs())
	}
	return runs
}

// assumptions are what the times of the plan's runs rest on.
func (p *Plan) assumptions() string {
	found := []string{usualSpeed}
	for _, load := range p.loads {
		if slices.ContainsFunc(load.targets(), func(t *loadgen.Plan) bool { return t.Traffic.MaxConcurrency == nil }) {
			found = append(found, fmt.Sprintf("%d requests at once", usualBatch))
			break
		}
	}
	simulated, real := false, false
	for _, arm := range p.Arms {
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
	if p.Sequential != nil {
		found = append(found, "no disturbed pair, which is made again")
	}
	text := strings.Join(found, ", ")
	if p.Search != nil {
		text += "; a " + p.Search.Flag + " whose probes disagree takes more"
	}
	return text
}
