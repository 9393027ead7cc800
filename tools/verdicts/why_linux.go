package main

import (
	"fmt"
	"io"
	"strings"
)

// why prints for each run whose folder ends with a name why it has its verdict, and how far its
// numbers are off. The runs are given in order.
func why(w io.Writer, all []*judged, name string) error {
	found := false
	for _, j := range all {
		if j.name == name || strings.HasSuffix(j.name, "/"+name) {
			j.explain(w)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("there is no run %s: a name is LOAD/CONDITION/N", name)
	}
	return nil
}

// explain prints a run's failed checks and its numbers.
func (j *judged) explain(w io.Writer) {
	fmt.Fprintf(w, "%s: %s; TTFT %v ms, ITL %v ms, %d tokens, load average %v\n",
		j.name, j.verdict, j.TTFT, j.ITL, j.Output, j.LoadAverage)
	fmt.Fprintf(w, "printed: %s\n\n", j.Verdict)
	if len(j.numbers) == 0 {
		fmt.Fprintln(w, "no numbers: the run was not recorded, or no request completed")
		return
	}
	checks := table{{"failed check", "figure", "limit"}}
	for _, c := range j.failed {
		limit := fmt.Sprintf("at most %.4g %s", c.Limit, c.Unit)
		if c.AtLeast {
			limit = fmt.Sprintf("at least %.4g %s", c.Limit, c.Unit)
		}
		checks = append(checks, []string{c.Name, fmt.Sprintf("%.4g %s", c.Figure, c.Unit), limit})
	}
	checks.write(w, false)
	numbers := table{{"number", "measured, ms", "true, ms", "error, ms", "error, %", "wrong"}}
	for _, n := range j.numbers {
		mark := ""
		if n.wrong() {
			mark = "wrong"
		}
		numbers = append(numbers, []string{
			n.name, fmt.Sprintf("%.3f", n.measured), fmt.Sprintf("%.3f", n.truth),
			fmt.Sprintf("%+.3f", n.measured-n.truth), fmt.Sprintf("%.2f", 100*n.relative()), mark,
		})
	}
	numbers.write(w, false)
}
