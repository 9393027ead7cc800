package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// columns are the clients that have results, in their order.
func (r *report) columns() (names []string) {
	for _, name := range []string{ours, warm, rust, python, aiperf} {
		if slices.ContainsFunc(r.Results, func(x result) bool { return x.Client == name }) {
			names = append(names, name)
		}
	}
	return names
}

const introduction = `# Other clients

` + "`make peers`" + ` writes this page. It runs servebench and other clients in turns, against a server that notes what really happened. Figures are medians of the turns, with the least and the largest.

`

// write writes the page.
func (r *report) write(w io.Writer) error {
	var page strings.Builder
	page.WriteString(introduction)
	r.clients(&page)
	r.method(&page)
	r.worse(&page)
	for _, t := range tables() {
		r.table(&page, t)
	}
	r.verdicts(&page)
	_, err := io.WriteString(w, page.String())
	return err
}

// clients says what is compared.
func (r *report) clients(page *strings.Builder) {
	about := map[string]string{
		ours:   "servebench as it is by default: each request opens a connection if none is idle",
		warm:   "with `--warm-connections`, which opens them before the start",
		rust:   "vLLM's client in Rust, `vllm-rs bench serve`, from its wheel",
		python: "vLLM's client in Python, `vllm bench serve`, without torch",
		aiperf: "NVIDIA's client, `aiperf profile`, all processes on the one core",
	}
	for _, name := range r.columns() {
		fmt.Fprintf(page, "- **%s**", name)
		if version := r.Versions[name]; version != "" {
			fmt.Fprintf(page, " (%s)", version)
		}
		fmt.Fprintf(page, ": %s.\n", about[name])
	}
	page.WriteString("\n")
}

// method says how it was measured, and where.
func (r *report) method(page *strings.Builder) {
	var others cell
	for _, x := range r.Results {
		others.values = append(others.values, 100*x.Others)
	}
	slices.Sort(others.values)
	m := r.Machine
	fmt.Fprintf(page, `The server is a thread that waits with epoll and shares no code with servebench. The kernel stamps each request when it arrives. The server reads the clock right before it writes a chunk of 270 bytes. True TTFT is from the first to the second. Client and server have a core each, and precedence over other programs. All clients use the same tokenizer.json, of Llama 3's size, and prompts of 16 random tokens unless the table says otherwise.

Machine: %s, %d cores, Linux %s, %s. Load average before the measurements: up to %.1f. Others took %s %% of the client's core during the runs.

`, m.CPU, m.Cores, m.Linux, m.Date, m.Load, others.text(lower))
}

// worse lists the figures in which servebench is worse than another client.
func (r *report) worse(page *strings.Builder) {
	page.WriteString("## Where servebench is worse\n\n")
	var lines int
	for _, t := range tables() {
		for _, row := range t.rows {
			a := row.cellOf(r.Results, ours)
			for _, name := range r.columns() {
				b := row.cellOf(r.Results, name)
				if name == ours || name == warm || !row.worse(a, b) {
					continue
				}
				lines++
				fmt.Fprintf(page, "- %s, %s: %s%s, %s %s%s%s.\n", row.measurement, row.figure, a.short(row.better), row.suffix(),
					name, b.short(row.better), row.suffix(), row.doubt(a, b))
			}
		}
	}
	if lines == 0 {
		page.WriteString("In no figure of this page.\n")
	}
	fmt.Fprintf(page, "\nA figure counts as worse if it is more than %.0f %% worse; errors must also differ by more "+
		"than %.2f ms.\n\n", 100*(clearly-1), leastErrors)
}

// table writes one table.
func (r *report) table(page *strings.Builder, t table) {
	names := r.columns()
	fmt.Fprintf(page, "## %s\n\n%s\n\n| load | figure | %s |\n|---|---|%s\n", t.title, t.text, strings.Join(names, " | "),
		strings.Repeat("---|", len(names)))
	before := ""
	for _, row := range t.rows {
		if !r.has(row.measurement) {
			continue
		}
		load := row.measurement
		if load == before {
			load = ""
		}
		before = row.measurement
		figure := row.figure
		if row.unit != "" {
			figure += ", " + row.unit
		}
		fmt.Fprintf(page, "| %s | %s |", load, figure)
		for _, name := range names {
			fmt.Fprintf(page, " %s |", row.cellOf(r.Results, name).text(row.better))
		}
		page.WriteString("\n")
	}
	page.WriteString("\n")
}

// verdicts says what servebench thought of its numbers.
func (r *report) verdicts(page *strings.Builder) {
	page.WriteString("## What servebench said\n\nServebench judges each run. It marks chunks that it read late and " +
		"together with later ones, and says between what P99 ITL lies. The server ends an answer 0.1 ms after its last " +
		"chunk, so a client that reads late takes the two together. The last column is that interval less what happened, " +
		"in milliseconds.\n\n" +
		"| load | client | verdicts | marked chunks, % | P99 ITL between |\n|---|---|---|---|---|\n")
	for _, m := range accuracy(false) {
		for _, name := range []string{ours, warm} {
			var said []string
			var marked, least, most cell
			for _, x := range r.Results {
				if x.Measurement == m.name && x.Client == name && x.Error == "" {
					said = append(said, x.Figures.Verdict)
					marked.values = append(marked.values, x.Figures.Marked)
					least.values = append(least.values, x.Figures.LeastITL-x.Truth.ITL.P99)
					most.values = append(most.values, x.Figures.MostITL-x.Truth.ITL.P99)
				}
			}
			if len(said) == 0 {
				continue
			}
			for _, list := range [][]float64{marked.values, least.values, most.values} {
				slices.Sort(list)
			}
			slices.Sort(said)
			fmt.Fprintf(page, "| %s | %s | %s | %s | %s and %s |\n", m.name, name, counted(said), marked.text(lower),
				least.short(nearer), most.short(nearer))
		}
	}
}

// has says whether a load was measured.
func (r *report) has(measurement string) bool {
	return slices.ContainsFunc(r.Results, func(x result) bool { return x.Measurement == measurement })
}

// counted has each word of sorted once, with its number.
func counted(sorted []string) string {
	var parts []string
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n] == sorted[0] {
			n++
		}
		parts = append(parts, fmt.Sprintf("%s %d", sorted[0], n))
		sorted = sorted[n:]
	}
	return strings.Join(parts, ", ")
}
