package selftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
)

// WriteHead writes where the selftest runs and what makes a row void. Call it before anything is
// measured.
func (r *Result) WriteHead(w io.Writer) {
	fmt.Fprintf(w, "servebench %s on %s, %s, %s, %s\n", r.Version, r.Host, r.System, metrics.Counted(r.Cores, "core"),
		r.Date.Format(time.RFC3339))
	fmt.Fprintf(w, "A row is void when others took more than %.0f %% of a core, when more than %.0f %% of the\n"+
		"machine's CPU time was stolen, or when the wall clock was set by more than %.0f ms.\n", r.Limits.Others,
		r.Limits.Stolen, r.Limits.Clock)
}

// WriteJSON writes one object whose keys name their units, in indented lines.
func (r *Result) WriteJSON(w io.Writer) error {
	lines := json.NewEncoder(w)
	lines.SetIndent("", "  ")
	return lines.Encode(r)
}

// WriteTables writes the result for people, 100 columns wide.
func (r *Result) WriteTables(w io.Writer) error {
	var b bytes.Buffer
	writeErrors(&b, r.Rows)
	writeCosts(&b, r.Rows)
	writeStarts(&b, r.Rows)
	b.WriteByte('\n')
	for _, left := range r.Left {
		fmt.Fprintf(&b, "Left out: %s\n", left)
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Void != "" {
			fmt.Fprintf(&b, "Void: %s: %s\n", row.Name, row.Void)
		}
		if row.Failed > 0 {
			fmt.Fprintf(&b, "Failed: %s: %s: %s\n", row.Name, metrics.Counted(row.Failed, "request"), row.Failure)
		}
	}
	bounds(&b, r.Rows)
	fmt.Fprintln(&b, r.Verdict)
	_, err := b.WriteTo(w)
	return err
}

// nameWidth is the width of a row's name.
const nameWidth = 15

// errorHeads are the heads of four columns, with the least width of each.
var errorHeads = []struct {
	name  string
	width int
}{{"p50", 6}, {"p99", 7}, {"p99.9", 7}, {"max", 7}}

// writeErrors writes columns as wide as their numbers need, with a blank between two.
func writeErrors(w io.Writer, rows []Row) {
	n := len(errorHeads)
	cells, widths, heads := make([][]string, len(rows)), make([]int, 3*n), make([]string, 3*n)
	for i := range rows {
		for _, s := range []Spread{rows[i].Stamp, rows[i].TTFT, rows[i].ITL} {
			for _, v := range []float64{s.P50, s.P99, s.P999, s.Max} {
				cells[i] = append(cells[i], fmt.Sprintf("%.0f", v))
			}
		}
	}
	for k := range widths {
		heads[k], widths[k] = errorHeads[k%n].name, errorHeads[k%n].width
		for _, row := range cells {
			widths[k] = max(widths[k], len(row[k])+1)
		}
	}
	line := func(name string, cells []string) {
		fmt.Fprintf(w, "%-*s", nameWidth, name)
		for k, cell := range cells {
			fmt.Fprintf(w, "%*s", widths[k], cell)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n%-*s", nameWidth, "Error in µs")
	for k, title := range []string{"stamp", "TTFT", "ITL"} {
		fmt.Fprint(w, over(title, widths[k*n:(k+1)*n]))
	}
	fmt.Fprintln(w)
	line("", heads)
	for i := range rows {
		line(rows[i].Name, cells[i])
	}
}

// over is a heading over columns of these widths.
func over(title string, widths []int) string {
	dashes := -len(title) - 4 // two blanks before it, one on each side of the title
	for _, width := range widths {
		dashes += width
	}
	dashes = max(0, dashes)
	return "  " + strings.Repeat("-", dashes/2) + " " + title + " " + strings.Repeat("-", dashes-dashes/2)
}

func writeCosts(w io.Writer, rows []Row) {
	heads := []string{"events/s", "shared", "CPU/event", "RSS/stream", "others", "stolen", "late"}
	fmt.Fprintf(w, "\n%-*s", nameWidth, "Cost")
	for _, head := range heads {
		fmt.Fprintf(w, " %10s", head)
	}
	fmt.Fprintln(w, "  valid")
	for i := range rows {
		row := &rows[i]
		cpu := "unknown"
		if row.CPU > 0 {
			cpu = fmt.Sprintf("%.1f µs", row.CPU)
		}
		cells := []string{
			fmt.Sprintf("%.0f", row.PerS), fmt.Sprintf("%.2f %%", row.Shared), cpu, known(row.RSS, "%.0f KiB"),
			known(row.Others, "%.1f %%"), known(row.Stolen, "%.1f %%"), fmt.Sprintf("%.2f %%", row.Late),
		}
		fmt.Fprintf(w, "%-*s", nameWidth, row.Name)
		for _, cell := range cells {
			fmt.Fprintf(w, " %10s", cell)
		}
		verdict := "yes"
		if row.Void != "" {
			verdict = "void"
		}
		fmt.Fprintln(w, "  "+verdict)
	}
}

func known(v *float64, format string) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *v)
}

// writeStarts writes measured latencies next to the true ones, for the loads that are about
// starting.
func writeStarts(w io.Writer, rows []Row) {
	begun := false
	for i := range rows {
		row := &rows[i]
		if row.Load == "steps" {
			continue
		}
		if !begun {
			begun = true
			fmt.Fprintf(w, "\n%-*s%20s%20s%20s\n", nameWidth, "Measured (true)", "mean TTFT", "p99 TTFT", "p99 ITL")
		}
		fmt.Fprintf(w, "%-*s", nameWidth, row.Name)
		for _, p := range []Pair{row.MeanTTFT, row.P99TTFT, row.P99ITL} {
			fmt.Fprintf(w, "%20s", fmt.Sprintf("%.2f (%.2f) ms", p.Measured, p.True))
		}
		fmt.Fprintln(w)
	}
}

// bounds writes whether the stamps were as exact as their records claim.
func bounds(w io.Writer, rows []Row) {
	beyond, stamped := 0, false
	for i := range rows {
		beyond += rows[i].Beyond
		stamped = stamped || rows[i].Kernel > 0
	}
	switch {
	case !stamped:
		fmt.Fprintln(w, "The kernel stamped no event, so the errors include waiting in this program.")
	case beyond == 0:
		fmt.Fprintln(w, "No stamp error exceeded the max_age of its record.")
	default:
		fmt.Fprintf(w, "%s had a stamp error above max_age.\n", metrics.Counted(beyond, "request"))
	}
}

// Explanation describes a selftest, its tables and its JSON.
const Explanation = `Measure how accurate servebench is on this machine.

It starts a server as a separate process, which writes into each event when it
wrote it and when the request came, as the kernel saw it. It loads that server
as servebench run does, and compares what it measured with the truth. Client and
server share the cores.

In a row "N per S ms", N streams get a token at the same instant every S ms, as
from the steps of an engine. They start one by one, and events count once all
have started. "At once" starts 1024 streams at one instant. "Poisson" starts 395
streams per second at random; their first token comes 50 ms after the request,
the others every 20 ms. The columns:

  stamp   error of the arrival time of an event
  TTFT    error of the time to first token
  ITL     error of the time between two tokens
  shared  events that came in one read with an earlier one. The kernel keeps one
          stamp for both; max_age in the record bounds the error
  CPU     CPU time of the client per event, without connecting
  RSS     memory per stream, without the notes of the selftest
  others  CPU time of other processes, as a share of one core
  late    events that the server wrote after the next one of the stream was due

A row that was disturbed is void and says nothing. The machine is trusted up to
the largest row in steps that has, like all smaller ones, a P99 error of at most
1 ms in ITL and 10 ms in TTFT.

The result is kept as servebench/selftest.json in the user's configuration
folder, if a row in steps was valid and --streams was not given.

The keys of --json name their units: _us, _ms, _s, _kib, _percent. rows has an
object for each row: load (steps, at-once, poisson), streams, step_ms, events,
events_per_s; stamp_error, ttft_error and itl_error with samples, p50_us,
p99_us, p99_9_us and max_us; ttft_mean_ms, ttft_p99_ms and itl_p99_ms with
measured and true; kernel_stamped_percent and shared_reads_percent of the
events; beyond_bound, the requests with a stamp error above max_age;
cpu_per_event_us, server_cpu_per_event_us, rss_per_stream_kib,
server_late_percent; failed requests and the first failure;
others_percent_of_core and stolen_percent of the machine's CPU time, null if
the system does not report them; clock_step_ms; and void, the reason why the
row proves nothing. Other keys are version, date, host, system, cores,
void_above, left_out, trusted_streams and verdict.`
