package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// Adapters writes a line for each LoRA adapter that requests asked for. It writes nothing without
// adapters.
func Adapters(w io.Writer, s *metrics.Summary) error {
	all := adapters.Of(s)
	if all == nil {
		return nil
	}
	tail, marked := "p"+metrics.FormatPercentile(tailOf(s))+"_", false
	numbers := catalogue.Choose("requests_per_s", "goodput", "output_tokens_per_s", "median_ttft", tail+"ttft",
		"median_tpot", "median_e2el", tail+"e2el")
	generates := slices.ContainsFunc(all, func(a adapters.Adapter) bool { return a.Output > 0 })
	text := func(a *adapters.Adapter, n metrics.Number) string {
		of, _ := adapters.Number(n, a.Name)
		v := of.Of(s)
		switch {
		case math.IsNaN(v) || n.Name == "output_throughput" && !generates:
			return ""
		case of.Few(s):
			marked = true
			return layout.Decimal(v) + layout.Few
		}
		return layout.Decimal(v)
	}
	g := layout.TwoLined(1, append([]string{"|adapter", "|completed", "|failed"}, layout.Heads(numbers)...)...)
	for i := range all {
		a := &all[i]
		row := []string{screen.Cut(a.Name, adapterWidth), vllm.Count(a.Completed), ""}
		if a.Failed > 0 {
			row[2] = vllm.Count(a.Failed)
		}
		for _, n := range numbers {
			row = append(row, text(a, n))
		}
		g.Add(row...)
	}
	var b bytes.Buffer
	b.WriteString("\nLoRA adapters\n")
	g.Text(&b)
	if marked {
		fmt.Fprintln(&b, layout.Few, layout.FewMeans())
	}
	_, err := w.Write(b.Bytes())
	return err
}

// adapterWidth is how many columns the name of an adapter has at most.
const adapterWidth = 24
