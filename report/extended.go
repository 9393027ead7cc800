package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/slicing"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/layout"
)

// writeExtended writes more sections in the form of the block: failures by class with their
// commonest message, finish reasons, the wait for a slot and our lag, and the run in at most 20
// equal parts, for which the Summary needs its Trace. It writes nothing for a Summary without Truth.
func writeExtended(w io.Writer, s *metrics.Summary) error {
	if s.Truth == nil {
		return nil
	}
	var b bytes.Buffer
	vllm.Rule(&b, " Extended Result ", '=')
	for _, section := range []struct {
		title string
		rows  []vllm.Row
	}{
		{"Failed Requests by Class", failureRows(s)}, {"Finish Reasons", finishReasons(s)},
		{"Queueing", queueing(s)}, {"Sessions", sessionRows(s)}, {"HTTP", transport(s)},
	} {
		if len(section.rows) == 0 {
			continue
		}
		vllm.Rule(&b, section.title, '-')
		for _, r := range section.rows {
			r.Write(&b)
		}
	}
	if s.Parts.Slices == nil { // or the requested slices follow
		if err := course(&b, s); err != nil {
			return err
		}
	}
	vllm.Rule(&b, "", '=')
	_, err := w.Write(b.Bytes())
	return err
}

// queueing is how long requests waited before they were sent. The additional metrics have the
// latencies with that wait.
func queueing(s *metrics.Summary) (rows []vllm.Row) {
	for _, latency := range []struct {
		label string
		of    *metrics.Distribution
	}{
		{"wait for a slot", &s.Client.Queue}, {"lag", &s.Client.Lag},
	} {
		if latency.of.Len() > 0 {
			rows = append(rows, vllm.LatencyRows(latency.label, latency.of, s.Header.Config.Percentiles)...)
		}
	}
	return rows
}

// course writes the run in equal parts, one a line.
func course(b *bytes.Buffer, s *metrics.Summary) error {
	whole := s.Whole()
	width := sliceWidth(whole.To - whole.From)
	slices, err := slicing.Slice(s, width)
	if err != nil || len(slices) == 0 {
		return err
	}
	vllm.Rule(b, "Slices of "+width.String(), '-')
	heads := []string{"from (s)", "req/s", "tok/s", "TTFT (ms)", "TPOT (ms)"}
	if s.Header.Config.Whole {
		heads = []string{"from (s)", "req/s", "E2EL (ms)"}
	}
	for _, head := range heads {
		fmt.Fprintf(b, "%*s", vllm.Width/5, head)
	}
	b.WriteByte('\n')
	for _, part := range slices {
		rate := func(n int) string { return layout.Decimal(float64(n) / part.Seconds()) }
		texts := []string{begins(part.From, width), rate(part.Completed), rate(part.Output), layout.Decimal(part.TTFT.Mean),
			layout.Decimal(part.TPOT.Mean)}
		if s.Header.Config.Whole {
			texts = append(texts[:2], layout.Decimal(part.E2EL.Mean))
		}
		for _, text := range texts {
			fmt.Fprintf(b, "%*s", vllm.Width/5, cmp.Or(text, "-"))
		}
		b.WriteByte('\n')
	}
	return nil
}

// begins is when a slice begins, in seconds, with enough decimals to distinguish it from the
// previous slice.
func begins(from, width time.Duration) string {
	if width < 10*time.Millisecond {
		return fmt.Sprintf("%.3f", from.Seconds())
	}
	return layout.Decimal(from.Seconds())
}

// sliceWidth is 1, 2 or 5 times a power of ten milliseconds, such that at most 20 slices
// cover the time.
func sliceWidth(took time.Duration) time.Duration {
	for unit := time.Millisecond; ; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if (took-1)/20 < n*unit {
				return n * unit
			}
		}
	}
}
