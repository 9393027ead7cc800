package report

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/servebench/servebench/metrics"
)

// Extended writes sections in the form of the block, to stand under it: failures
// by class, with what was said most often of each, finish reasons, what waiting for a slot and our own lateness took, the inter-token
// latency per token and not per chunk, and the run in at most 20 equal parts, for
// which the Summary needs its Trace. It writes nothing for a Summary without Truth.
func Extended(w io.Writer, s *metrics.Summary) error {
	if s.Truth == nil {
		return nil
	}
	var b bytes.Buffer
	rule(&b, " Extended Result ", '=')
	for _, section := range []struct {
		title string
		rows  []row
	}{
		{"Failed Requests by Class", failures(s)}, {"Finish Reasons", finishReasons(s)},
		{"Queueing", queueing(s)}, {"Inter-token Latency per Token", tokenGaps(s)},
	} {
		if len(section.rows) == 0 {
			continue
		}
		rule(&b, section.title, '-')
		for _, r := range section.rows {
			r.write(&b)
		}
	}
	if err := course(&b, s); err != nil {
		return err
	}
	rule(&b, "", '=')
	_, err := w.Write(b.Bytes())
	return err
}

// queueing is how long requests waited before they were sent, and what latencies
// are with that wait.
func queueing(s *metrics.Summary) (rows []row) {
	for _, latency := range []struct {
		label string
		of    *metrics.Distribution
	}{
		{"wait for a slot", &s.Queue}, {"lag", &s.Lag},
		{"TTFT from due", &s.Truth.ScheduledTTFT}, {"E2EL from due", &s.Truth.ScheduledE2EL},
	} {
		rows = append(rows, spreadRows(latency.label, latency.of, s.Header.Config.Percentiles)...)
	}
	return rows
}

func tokenGaps(s *metrics.Summary) []row {
	t := s.Truth
	rows := spreadRows("ITL per token", &t.ITL, s.Header.Config.Percentiles)
	if len(rows) == 0 && t.MeanITL > 0 {
		rows = []row{{label: "Mean ITL per token (ms):", value: decimal(t.MeanITL)}}
	}
	if len(rows) > 0 && t.Tokens.Mean() > 0 {
		rows = append(rows, row{label: "Mean tokens per chunk:", value: decimal(t.Tokens.Mean())})
	}
	return rows
}

// spreadRows are none without values.
func spreadRows(label string, d *metrics.Distribution, percentiles []float64) []row {
	if d.Len() == 0 {
		return nil
	}
	rows := []row{{label: "Mean " + label + " (ms):", value: decimal(d.Mean())}, {label: "Median " + label + " (ms):", value: decimal(d.Median())}}
	for _, p := range percentiles {
		rows = append(rows, row{label: fmt.Sprintf("P%s %s (ms):", metrics.FormatPercentile(p), label), value: decimal(d.Percentile(p))})
	}
	return rows
}

// course writes the run in equal parts, one a line.
func course(b *bytes.Buffer, s *metrics.Summary) error {
	whole := s.Whole()
	width := sliceWidth(whole.To - whole.From)
	slices, err := s.Slice(width)
	if err != nil || len(slices) == 0 {
		return err
	}
	rule(b, "Slices of "+width.String(), '-')
	for _, head := range []string{"from (s)", "req/s", "tok/s", "TTFT (ms)", "TPOT (ms)"} {
		fmt.Fprintf(b, "%*s", blockWidth/5, head)
	}
	b.WriteByte('\n')
	for _, part := range slices {
		rate := func(n int) string { return decimal(float64(n) / part.Seconds()) }
		for _, text := range []string{
			begins(part.From, width), rate(part.Completed), rate(part.Output), decimal(part.TTFT.Mean), decimal(part.TPOT.Mean),
		} {
			fmt.Fprintf(b, "%*s", blockWidth/5, orDash(text))
		}
		b.WriteByte('\n')
	}
	return nil
}

// begins is when a slice of a width does, in seconds with the decimals that tell it
// from the one before.
func begins(from, width time.Duration) string {
	if width < 10*time.Millisecond {
		return fmt.Sprintf("%.3f", from.Seconds())
	}
	return decimal(from.Seconds())
}

// sliceWidth is 1, 2 or 5 of a decimal unit from a millisecond on, such that at
// most 20 cover a time.
func sliceWidth(took time.Duration) time.Duration {
	for unit := time.Millisecond; ; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if (took-1)/20 < n*unit {
				return n * unit
			}
		}
	}
}
