package vllm

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// The widths of the block in characters.
const (
	Width      = 50
	labelWidth = 40
	valueWidth = 10
)

// Block writes the result block as that version of vLLM prints it, byte for byte. The version
// decides lines and labels only; the numbers mean the same for all. It leaves out a metric that the
// configuration selects but the Summary does not know.
func Block(w io.Writer, s *metrics.Summary, v Version) error {
	var b bytes.Buffer
	Rule(&b, " Serving Benchmark Result ", '=')
	for _, part := range parts {
		if !part.holds(v) || part.there != nil && !part.there(s) {
			continue
		}
		rows := part.rows(s, v)
		if len(rows) > 0 && part.title != "" {
			Rule(&b, part.title, '-')
		}
		for _, r := range rows {
			r.Write(&b)
		}
	}
	Rule(&b, "", '=')
	_, err := w.Write(b.Bytes())
	return err
}

// Releases of vLLM that changed a rule.
var (
	choosesMetrics = Version{minor: 6}  // --percentile-metrics and --metric-percentiles
	listsFailures  = Version{minor: 14} // above the block
	skipsTokenizer = Version{minor: 17} // --skip-tokenizer-init
)

// rows are the part's rows whose values are known.
func (p *section) rows(s *metrics.Summary, v Version) (rows []Row) {
	if p.metric != "" {
		rows = p.statistics(s, v)
	}
	for _, l := range p.lines {
		c := &s.Header.Config
		if l.holds(v) && !(l.tokens && c.SkipTokenizer && !v.before(skipsTokenizer)) && !(l.spoken && c.Traits.Pooled) {
			rows = append(rows, Row{l.label + ":", l.text(s)})
		}
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Value == "" })
	if p.more != nil {
		rows = append(rows, p.more(s)...)
	}
	return rows
}

// positions are the rows of the acceptance at each position of a draft.
func positions(s *metrics.Summary) (rows []Row) {
	if len(s.Printed.SpecDecode.PerPosition) > 0 {
		rows = append(rows, Row{Label: "Per-position acceptance (%):"})
	}
	for i, share := range s.Printed.SpecDecode.PerPosition {
		rows = append(rows, Row{fmt.Sprintf("  %s%d:", position, i), decimal(share * 100)})
	}
	return rows
}

// statistics are the rows of the part's metric, if the run reports it.
func (p *section) statistics(s *metrics.Summary, v Version) []Row {
	percentiles := s.Header.Config.Percentiles
	if v.before(choosesMetrics) {
		percentiles = []float64{99}
	} else if !s.Header.Config.Selected(p.metric) {
		return nil
	}
	return LatencyRows(p.label, s.Latency(p.metric), percentiles)
}

// LatencyRows are the mean, the median and the percentiles of a latency.
func LatencyRows(label string, d *metrics.Distribution, percentiles []float64) []Row {
	rows := []Row{{"Mean " + label + " (ms):", decimal(d.Mean())}, {"Median " + label + " (ms):", decimal(d.Median())}}
	for _, p := range percentiles {
		rows = append(rows, Row{fmt.Sprintf("P%s %s (ms):", metrics.FormatPercentile(p), label), decimal(d.Percentile(p))})
	}
	return rows
}

// Failures writes the list of errors that vLLM prints before its block if requests failed: the
// first ten in dataset order. It writes nothing if none failed, for a pooling endpoint, and for a
// version that has no such list.
func Failures(w io.Writer, s *metrics.Summary, v Version) error {
	if len(s.Printed.FirstErrors) == 0 || s.Header.Config.Traits.Pooled || v.before(listsFailures) {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("Failed requests during benchmark run detected (capping to 10):\n")
	for i, message := range s.Printed.FirstErrors {
		fmt.Fprintf(&b, "Error %d: %s\n", i, message)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Rule centres a title as Python does: the odd character goes to the right.
func Rule(b *bytes.Buffer, title string, fill byte) {
	pad := Width - len(title)
	b.WriteString(strings.Repeat(string(fill), pad/2))
	b.WriteString(title)
	b.WriteString(strings.Repeat(string(fill), pad-pad/2))
	b.WriteByte('\n')
}

// A Row is one line of the block. A Row without a value is a bare label.
type Row struct{ Label, Value string }

func (r Row) Write(b *bytes.Buffer) {
	if r.Value == "" {
		fmt.Fprintln(b, r.Label)
		return
	}
	fmt.Fprintf(b, "%-*s %-*s\n", labelWidth, r.Label, valueWidth, r.Value)
}

// Count writes a whole number; nothing if it is unknown.
func Count(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// decimal writes a number with two digits; nothing if it is unknown.
func decimal(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
