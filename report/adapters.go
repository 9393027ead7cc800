package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/screen"
)

// Adapters writes a line for each LoRA adapter that requests asked for. It writes nothing without
// adapters.
func Adapters(w io.Writer, s *metrics.Summary) error {
	if s.Adapters == nil {
		return nil
	}
	p, marked := tailOf(s), false
	tail, beyond := "P"+metrics.FormatPercentile(p), marking(p, &marked)
	known := func(v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return decimal(v)
	}
	generates := slices.ContainsFunc(s.Adapters, func(a metrics.Adapter) bool { return a.Output > 0 })
	output := func(a *metrics.Adapter) string {
		if !generates {
			return ""
		}
		return known(a.OutputThroughput)
	}
	some := func(n int) string {
		if n == 0 {
			return ""
		}
		return vllm.Count(n)
	}
	g := twoLined(1, "|adapter", "|completed", "|failed", "|req/s", "good|req/s", "output|tok/s", "TTFT ms|median",
		"|"+tail, "TPOT ms|median", "E2EL ms|median", "|"+tail)
	for i := range s.Adapters {
		a := &s.Adapters[i]
		g.add(screen.Cut(a.Name, adapterWidth), vllm.Count(a.Completed), some(a.Failed), known(a.RequestThroughput),
			known(a.Goodput), output(a),
			middle(&a.TTFT), beyond(&a.TTFT), middle(&a.TPOT), middle(&a.E2EL), beyond(&a.E2EL))
	}
	var b bytes.Buffer
	b.WriteString("\nLoRA adapters\n")
	g.text(&b)
	if marked {
		fmt.Fprintln(&b, few, fewMeans)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// adapterWidth is how many columns the name of an adapter has at most.
const adapterWidth = 24
