package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/vllm"
)

// measureHeads are those of compare.Measures.
var measureHeads = []string{
	"TTFT ms|mean", "|median", "|P99", "TPOT ms|mean", "|P99", "output|tok/s", "requests|req/s",
}

// interference writes what the targets did to each other: a table of each among
// the others, alone, and how much slower that is, and how even it is. When that
// was is said in the heading.
func interference(b *bytes.Buffer, in *compare.Interference, shared, alone string) {
	b.WriteString("\nEach target " + shared)
	if in.Compared {
		b.WriteString(", against itself " + alone)
	}
	b.WriteByte('\n')
	measures := compare.Measures
	if in.Effects[0].Shared.Part != nil {
		// What a part completes depends on when it begins more than on the server.
		measures = measures[:len(measures)-1]
	}
	g := twoLined(1, slices.Concat([]string{"|target", "|"}, measureHeads[:len(measures)])...)
	marked := false
	for i := range in.Effects {
		marked = effect(g, &in.Effects[i], measures, in.Compared) || marked
	}
	g.text(b)
	if marked {
		b.WriteString(few + " " + fewMeans + "\n")
	}
	for _, f := range in.Fairness {
		evenness(b, f)
	}
	if in.Bound != nil {
		b.WriteString("Note:")
		wrap(b, len("Note:"), "requests to "+strings.Join(in.Bound, ", ")+" were sent at the rate asked for: throughput that is bound by it says little of interference")
	}
}

// effect adds the rows of a target, a column for each measure. It says whether a percentile is of too few values.
func effect(g *grid, e *compare.Sharing, measures []compare.Measure, compared bool) (marked bool) {
	numbers := func(name, what string, s *metrics.Summary) {
		cells := []string{name, what}
		for _, m := range measures {
			text := orDash(vllm.Decimal(m.Of(s)))
			if m.Few(s) {
				text += few
				marked = true
			}
			cells = append(cells, text)
		}
		g.add(cells...)
	}
	numbers(e.Target, "shared", e.Shared)
	if !compared {
		return marked
	}
	numbers("", "alone", e.Alone)
	cells := []string{"", "slowdown"}
	for _, m := range measures {
		cells = append(cells, times(e.Slowdown(m)))
	}
	g.add(cells...)
	return marked
}

// times writes a ratio.
func times(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return vllm.Decimal(v) + " ×"
}

// fairnessNames say in words what a compare.Fairness is of.
var fairnessNames = map[string]string{
	"progress":          "progress, output throughput shared/alone",
	"output_throughput": "output throughput",
	"ttft_slowdown":     "slowdown of mean TTFT",
	"tpot_slowdown":     "slowdown of mean TPOT",
}

func evenness(b *bytes.Buffer, f compare.Fairness) {
	of := fairnessNames[f.Of]
	if math.IsNaN(f.Jain) {
		fmt.Fprintf(b, "Fairness of the %s: not known\n", of)
		return
	}
	ratio := vllm.Decimal(f.Ratio)
	if math.IsInf(f.Ratio, 1) {
		ratio = "∞"
	}
	fmt.Fprintf(b, "Fairness of the %s: Jain's index %.3f (1 is even), most / least %s\n", of, f.Jain, ratio)
}
