package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics/numpy"
)

// A sessionPage is docs/measured/sessions.md and what is checked of it.
type sessionPage struct {
	machine  machine
	versions map[string]string
	courses  []course
}

// What servebench must keep.
const (
	mostLag = 1.0  // P99 in ms, the median of the runs, of enough requests
	mostCPU = 0.10 // of AIPerf's CPU
	enough  = 400  // requests
)

// runs are one client's of one trace. Of AIPerf's it is the one that was less late.
func (p *sessionPage) runs(trace, client string) (all []course) {
	for _, c := range p.courses {
		if c.Trace == trace && c.Client == client {
			all = append(all, c)
		}
	}
	if client == aiperf && len(all) > 1 {
		best := slices.MinFunc(all, func(a, b course) int { return cmp.Compare(a.Finding.Late.P99, b.Finding.Late.P99) })
		return []course{best}
	}
	return all
}

// median is the median of a figure over runs; NaN without runs.
func median(all []course, of func(c course) float64) float64 {
	var values []float64
	for _, c := range all {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return numpy.Median(values)
}

func cpuOf(c course) float64 { return c.CPU }
func lagOf(c course) float64 { return c.Lag }

// traceNames are the traces that were run, in order.
func (p *sessionPage) traceNames() (names []string) {
	for _, c := range p.courses {
		if !slices.Contains(names, c.Trace) {
			names = append(names, c.Trace)
		}
	}
	return names
}

// verdict is what servebench did not keep.
func (p *sessionPage) verdict() (failed error) {
	wrong := func(trace, text string, args ...any) {
		failed = errors.Join(failed, fmt.Errorf("%s: %s", trace, fmt.Sprintf(text, args...)))
	}
	for _, trace := range p.traceNames() {
		our, air, script := p.runs(trace, ours), p.runs(trace, aiperf), p.runs(trace, multiTurnScript)
		for _, c := range our {
			if f := c.Finding; c.Error != "" || f.Strange > 0 || f.Early > 0 ||
				slices.ContainsFunc([]int{f.Arrived, f.Sessions, f.Ordered, f.Shared},
					func(n int) bool { return n != f.Requests }) {
				wrong(trace, "%+v %s", f, c.Error)
			}
		}
		if lag := median(our, lagOf); len(our) > 0 && our[0].Finding.Requests >= enough && !(lag <= mostLag) {
			wrong(trace, "P99 lag %.2f ms, more than %.0f", lag, mostLag)
		}
		if len(air) > 0 && median(our, cpuOf) > mostCPU*median(air, cpuOf) {
			wrong(trace, "CPU %.2f s, more than a tenth of AIPerf's %.2f", median(our, cpuOf), median(air, cpuOf))
		}
		for _, c := range append(air, script...) {
			if c.Error != "" {
				wrong(trace, "%s: %s", c.Client, c.Error)
			}
		}
		if len(script) > 0 && len(our) > 0 {
			failed = errors.Join(failed, sameAsScript(trace, script[0], our[0]))
		}
	}
	return failed
}

// Rows of the script's table that do not depend on time.
var timelessRows = []string{"input_num_turns", "input_num_tokens", "output_num_tokens", "output_num_chunks"}

// sameAsScript says where servebench did not send what vLLM's script sends, where our table of its
// figures is not what it printed, and where the rows without times differ.
func sameAsScript(trace string, their, our course) (failed error) {
	if n := alike(their.Asked, our.Asked); their.Error == "" && (n != len(their.Asked) || n != len(our.Asked) || n == 0) {
		failed = fmt.Errorf("%s: %d requests are alike, of the script's %d and our %d", trace, n, len(their.Asked),
			len(our.Asked))
	}
	if their.Printed == nil || len(our.Figures) == 0 {
		return failed
	}
	again := tabulate(their.Figures)
	var all []string
	for name := range rowsOf {
		all = append(all, name)
	}
	if rows := again.differs(their.Printed, all...); len(rows) > 0 {
		failed = errors.Join(failed, fmt.Errorf("%s: our table of the script's figures differs in %q", trace, rows))
	}
	if rows := tabulate(our.Figures).differs(their.Printed, timelessRows...); len(rows) > 0 {
		failed = errors.Join(failed, fmt.Errorf("%s: our table of our figures differs in %q", trace, rows))
	}
	return failed
}

const sessionIntroduction = `# Sessions and other clients

` + "`make sessions`" + ` writes this page. Servebench and another client replay the same trace, against a server that keeps each request with the kernel's timestamp of its arrival. Each request of a trace asks for its own number of tokens, so the server knows which one it is. Then what arrived is held against the trace:

- **arrived**: requests of the trace that came exactly once.
- **sessions**: requests whose session header is their agent's and nobody else's.
- **in order**: requests that came after the end of every answer that they wait for.
- **shared**: requests that have as many blocks in common with each other request as the trace says. For chats: requests with exactly the messages of the file and the server's answers.
- **early**: requests that came more than a millisecond before they were due: before the end of their gap, which begins with the last of the answers that they wait for.
- **late**: from the moment at which a request is due to its arrival, seen by the server. It includes the client's way to read the answer, and a new connection.
- **lag**: the client's own figure for that. AIPerf's is its schedule lag for a trace with times. Otherwise it is the time from its permit to send until it sends, so it leaves out its lateness after an answer.

`

// write writes the page.
func (p *sessionPage) write(w io.Writer) error {
	var page strings.Builder
	page.WriteString(sessionIntroduction)
	for _, name := range []string{ours, aiperf} {
		if v := p.versions[name]; v != "" {
			fmt.Fprintf(&page, "- %s: %s.\n", name, v)
		}
	}
	fmt.Fprintf(&page, "- %s: the script of vLLM 0.33.0's source.\n\n", multiTurnScript)
	m, load := p.machine, 0.0
	for _, c := range p.courses {
		load = max(load, c.Load)
	}
	fmt.Fprintf(&page, "Machine: %s, %d cores, Linux %s, %s. Load average before a run: up to %.1f. Client and server "+
		"have a core each. The server and servebench have real-time priority (`chrt --rr 1`), so that other programs do "+
		"not disturb them. AIPerf runs with it and without it, with `nice` at -20, and the table has the run with the "+
		"lower P99 lateness: its processes disturb each other, too. vLLM's script runs without it. AIPerf's cache of "+
		"datasets is off, so that it makes its prompts in each run, as servebench does.\n\n", m.CPU, m.Cores, m.Linux,
		m.Date, load)
	page.WriteString("| trace | client | requests | arrived | sessions | in order | shared | early | late p50, ms | " +
		"late p99, ms | lag p99, ms | CPU, s | memory, MB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, trace := range p.traceNames() {
		for _, client := range []string{ours, aiperf, multiTurnScript} {
			all := p.runs(trace, client)
			if len(all) == 0 || all[0].Finding.Requests == 0 {
				continue
			}
			f := all[0].Finding
			for _, c := range all {
				f.Arrived, f.Sessions, f.Ordered, f.Shared = min(f.Arrived, c.Finding.Arrived),
					min(f.Sessions, c.Finding.Sessions), min(f.Ordered, c.Finding.Ordered), min(f.Shared, c.Finding.Shared)
				f.Early = max(f.Early, c.Finding.Early)
			}
			fmt.Fprintf(&page, "| %s | %s | %d | %d | %d | %d | %d | %d | %.2f | %.2f | %s | %.2f | %.0f |\n", trace, client,
				f.Requests, f.Arrived, f.Sessions, f.Ordered, f.Shared, f.Early,
				median(all, func(c course) float64 { return c.Finding.Late.P50 }),
				median(all, func(c course) float64 { return c.Finding.Late.P99 }),
				known(median(all, lagOf)), median(all, cpuOf), median(all, func(c course) float64 { return c.Memory }))
		}
	}
	page.WriteString("\nServebench's counts are the least of its two runs, and its other figures medians.\n")
	for _, trace := range p.traceNames() {
		p.tables(&page, trace)
	}
	_, err := io.WriteString(w, page.String())
	return err
}

func known(lag float64) string {
	if lag < 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", lag)
}

// tables writes what vLLM's script printed of a trace, and the same of servebench's records.
func (p *sessionPage) tables(page *strings.Builder, trace string) {
	script, our := p.runs(trace, multiTurnScript), p.runs(trace, ours)
	if len(script) == 0 || script[0].Printed == nil || len(our) == 0 || len(our[0].Figures) == 0 {
		return
	}
	t := tabulate(our[0].Figures)
	fmt.Fprintf(page, "\n## vLLM's table: %s\n\n%d of the script's %d requests are also servebench's, message by "+
		"message. The script ran %.3f s with %.3f requests a second, servebench %.3f s with %.3f.\n\n| row | client | "+
		"count | mean | std | min | 25%% | 50%% | 75%% | 90%% | max |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
		trace, alike(script[0].Asked, our[0].Asked), len(script[0].Asked), script[0].Printed.Seconds, script[0].Printed.Rate,
		t.Seconds, t.Rate)
	for _, row := range []string{"ttft_ms", "tpot_ms", "latency_ms", "input_num_turns", "input_num_tokens",
		"output_num_tokens", "output_num_chunks"} {
		for _, x := range []struct {
			client string
			values []float64
		}{{multiTurnScript, script[0].Printed.Rows[row]}, {ours, t.Rows[row]}} {
			fmt.Fprintf(page, "| %s | %s |", row, x.client)
			if n := len(x.values); n > 9 { // the 99th percentile, of 100 values and more
				x.values = append(slices.Clone(x.values[:8]), x.values[n-1])
			}
			for _, v := range x.values {
				fmt.Fprintf(page, " %.2f |", v)
			}
			page.WriteString("\n")
		}
	}
}
