package sweep

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/screen"
)

// Describe writes what the plan would run, in order, and how long it may take. It leaves out runs
// that the folder dir has already. A folder of another experiment is an error.
func (p *Plan) Describe(w io.Writer, file, dir string) error {
	past, err := openHistory(dir, p)
	if err != nil {
		return err
	}
	e := estimate{p}
	left, total := 0, time.Duration(0)
	var lines strings.Builder
	for _, block := range past.expected() {
		arm := &p.Arms[block[0].arm]
		block = slices.DeleteFunc(block, past.over)
		if len(block) > 0 && len(arm.Servers) > 0 {
			total += arm.startTime()
			fmt.Fprintf(&lines, "      start %s\n", arm.Name)
		}
		for _, c := range block {
			left++
			took := e.cell(c)
			total += took
			what := ""
			if p.Search != nil {
				what = fmt.Sprintf(", up to %s to find its %s", metrics.Counted(e.runs(), "probe"), p.Search.Flag)
			}
			fmt.Fprintf(&lines, "%4d  %s, seed %d%s: about %s\n", len(past.entries)+left, p.describe(c), p.seedOf(c, 0), what,
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
		metrics.Counted(len(p.Points), "load"), repeats, e.count(len(past.entries), left), Roughly(total),
		lines.String(), e.assumptions(), few))
}
