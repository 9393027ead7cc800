package trust

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file checks the state of the GPUs: see docs/gpu.md.

// What to do about it.
const (
	exclusive = "end these processes, or choose another GPU"
	restarted = "stop the servers and the MPS daemon (echo quit | nvidia-cuda-mps-control), and start all again"
	daemon    = "start the MPS daemon before the server, as the same user and with the same CUDA_MPS_PIPE_DIRECTORY"
)

// foreignProcesses counts processes on the GPUs of the server that are not the server's.
func (j *judge) foreignProcesses() (verdict.Check, bool) {
	foreign := j.seen.GPU.Sharing(gpu.Foreign)
	c := verdict.Check{Name: "foreign processes", Figure: float64(len(foreign)), Unit: "processes", Limit: foreignLimit,
		Remedy: exclusive}
	c.Text = fmt.Sprintf("%s on the GPU of the server", processCount(len(foreign), "foreign "))
	if len(foreign) > 0 {
		c.Text += ": " + named(foreign)
	}
	return c, len(j.seen.GPU.Sharing(gpu.Server)) > 0
}

// processCount is n processes of a kind, in words.
func processCount(n int, kind string) string {
	if n == 1 {
		return "1 " + kind + "process"
	}
	return fmt.Sprintf("%d %sprocesses", n, kind)
}

// named lists processes: the first three, and how many more.
func named(all []gpu.Process) string {
	const most = 3
	var said []string
	for _, p := range all[:min(len(all), most)] {
		text := fmt.Sprintf("%d", p.PID)
		if p.Name != "" {
			text += " " + p.Name
		}
		if p.Memory != nil {
			text += fmt.Sprintf(" with %.0f MiB", *p.Memory)
		}
		said = append(said, fmt.Sprintf("%s, seen from %.1f to %.1f s", text, p.First.Seconds(), p.Last.Seconds()))
	}
	text := strings.Join(said, "; ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// mpsFaults counts servers of MPS that a client brought down: its other clients went down with it.
func (j *judge) mpsFaults() (verdict.Check, bool) {
	c := verdict.Check{Name: "MPS fault", Unit: "servers", Limit: faultsLimit, Remedy: restarted,
		Text: "no MPS server is in fault"}
	found := false
	for _, m := range j.mps() {
		found = found || len(m.Servers) > 0
		if faults := m.Faults(); len(faults) > 0 {
			c.Figure = max(c.Figure, float64(len(faults)))
			c.Text = fmt.Sprintf("MPS server %d was in fault %s the load: its clients fail", faults[0].PID, m.When)
		}
	}
	return c, found
}

// mpsClients counts the processes of the server that are clients of MPS: the fewest of those before
// the load and those after it.
func (j *judge) mpsClients() (c verdict.Check, found bool) {
	for _, m := range j.mps() {
		ours, all := m.Clients()
		if !m.Known() || len(m.Faults()) > 0 || found && float64(ours) >= c.Figure {
			continue
		}
		found = true
		c = verdict.Check{Name: "MPS clients", Figure: float64(ours), Unit: "clients", Limit: clientsLimit, AtLeast: true,
			Remedy: daemon}
		c.Text = fmt.Sprintf("%d of %s of the MPS daemon at %s were the server's %s the load", ours,
			metrics.Counted(all, "client"), m.Pipe, m.When)
		if m.Absent != "" {
			c.Text = fmt.Sprintf("no MPS daemon answered at %s %s the load (%s)", m.Pipe, m.When, m.Absent)
		}
		if ours < clientsLimit {
			c.Text += ": the server ran without MPS in spite of " + m.Variable
		}
	}
	return c, found
}

// mps is what MPS said about the server, before the load and after it.
func (j *judge) mps() []gpu.MPS {
	if j.seen.GPU == nil {
		return nil
	}
	return j.seen.GPU.MPS
}

// noteGPUs notes what nobody could see.
func (j *judge) noteGPUs(n *notes) {
	if j.seen.GPU == nil {
		return
	}
	for _, text := range j.seen.GPU.Notes {
		n.text(text)
	}
	s := j.seen.GPU
	hidden, unplaced := append(s.Sharing(gpu.Hidden), s.Unplaced(gpu.Hidden)...), s.Unplaced(gpu.Foreign)
	n.add(len(hidden) > 0, "%s on the GPU with an id that this machine does not show, as of a container: nobody knows "+
		"whose",
		processCount(len(hidden), ""))
	n.add(len(unplaced) > 0, "no process on a GPU is known to be the server's, so nobody knows whether these are: %s",
		named(unplaced))
	for _, m := range j.mps() {
		ours, all := m.Clients()
		n.add(m.Unknown != "", "%s the load, nobody knows whether the server ran under MPS (%s): %s", m.When, m.Variable,
			m.Unknown)
		n.add(m.Unknown == "" && !m.Known(), "%s the load, %d of %s of MPS have ids that this machine does not show: "+
			"nobody knows whether the server is one",
			m.When, all-ours, metrics.Counted(all, "client"))
	}
}
