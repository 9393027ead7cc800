// Package preflight says what an experiment lacks on this machine, before a GPU is paid for. It
// starts no server and sends no load.
//
// Run reads from a sweep's plan what its commands ask for (programs, ports, shares of a GPU, MPS) and
// what its needs declare, and asks a Machine for it. A Check is a function from both to Findings. A
// Finding is fine, missing with a remedy, or a note: something that is not known or that does no harm.
package preflight

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/screen"
)

// A State is what a Finding says.
type State string

// The states. Only what is Missing keeps the experiment from working.
const (
	Fine    State = "fine"
	Missing State = "MISSING"
	Note    State = "note"
)

// A Finding is one line of a Report.
type Finding struct {
	State  State
	Topic  string // such as port or GPU
	Text   string
	Remedy string // of what is Missing
}

func fine(topic, format string, args ...any) Finding {
	return Finding{Fine, topic, fmt.Sprintf(format, args...), ""}
}

func note(topic, format string, args ...any) Finding {
	return Finding{Note, topic, fmt.Sprintf(format, args...), ""}
}

func missing(topic, remedy, format string, args ...any) Finding {
	return Finding{Missing, topic, fmt.Sprintf(format, args...), remedy}
}

// A Report is all Findings, in the order of the checks.
type Report []Finding

// Count is how many Findings have the state.
func (r Report) Count(s State) (n int) {
	for _, f := range r {
		if f.State == s {
			n++
		}
	}
	return n
}

// Write writes a line for each Finding, and the counts as the last line.
func (r Report) Write(w io.Writer) error {
	var text strings.Builder
	for _, f := range r {
		line := f.Text
		if f.Remedy != "" {
			line += ": " + f.Remedy
		}
		fmt.Fprintf(&text, "%-8s%-10s%s\n", f.State, f.Topic, strings.Join(strings.Fields(line), " "))
	}
	fmt.Fprintf(&text, "%d missing, %d fine, %s\n", r.Count(Missing), r.Count(Fine),
		metrics.Counted(r.Count(Note), "note"))
	return screen.Of(w).Say(w, text.String())
}

// A look is the plan, the machine, and what several checks need to know of both.
type look struct {
	plan    *sweep.Plan
	machine *Machine
	ctx     context.Context
	dir     string // of the results
	servers []*server
	engines []engine // each program that runs vLLM once
	gpus    []gpu
	noGPU   string // why there are none
}

// A check finds what is there and what is not.
type check func(*look) []Finding

// Run makes all checks. The paths of the plan are relative to the working directory; dir is the folder
// of the sweep's results.
func Run(ctx context.Context, p *sweep.Plan, dir string, m *Machine) Report {
	l := &look{plan: p, machine: m, ctx: ctx, dir: dir}
	l.readServers()
	l.readEngines()
	l.readGPUs()
	var all Report
	for _, c := range []check{
		programs, engines, modules,
		gpuThere, shares, freeMemory, gpuModes, multiprocessors, daemons,
		ports, running,
		repeats, disk, duration,
	} {
		all = append(all, c(l)...)
	}
	return all
}

// A need is the Needs of the plan, or of one arm.
type need struct {
	sweep.Needs
	who string // "" for all arms, or as the end of a sentence
}

func (l *look) needs() []need {
	all := []need{{Needs: l.plan.Needs}}
	for _, a := range l.plan.Arms {
		all = append(all, need{a.Needs, " (arm " + a.Name + ")"})
	}
	return all
}

// unique leaves out what is there twice.
func unique(all []string) []string {
	var once []string
	for _, s := range all {
		if s != "" && !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}
