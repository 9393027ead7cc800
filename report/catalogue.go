package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/report/screen"
)

// Catalogue writes all numbers of a run with their units and what they are, for a terminal of 80 columns.
func Catalogue(w io.Writer) error {
	const key, unit, width = 30, 10, 80
	var b bytes.Buffer
	before := ""
	for _, n := range catalogue.Numbers() {
		if len(n.Key) > key { // its unit is in the next line
			b.WriteString(n.Key + "\n")
			n.Key = ""
		}
		if n.About == before { // another statistic of the same latency
			fmt.Fprintf(&b, "%-*s %s\n", key, n.Key, n.Unit)
			continue
		}
		before = n.About
		fmt.Fprintf(&b, "%-*s %-*s", key, n.Key, unit, n.Unit)
		screen.Wrap(&b, key+1+unit, width, n.About)
	}
	b.WriteString("\nThere is any other percentile of a latency, as p95_ttft_ms. The name of a LoRA\n" +
		"adapter may precede a number, as in sql/p99_ttft_ms.\n")
	_, err := w.Write(b.Bytes())
	return err
}
