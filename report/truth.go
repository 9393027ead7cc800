package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
)

// The measures of the truth section in characters.
const (
	truthWidth  = 100
	truthLabel  = 32
	truthColumn = 11
)

// Truth writes what the block cannot say, then the notes of the verdict, for a
// terminal of 100 columns: only lines that have something to say, and nothing
// for a Summary without Truth. Latencies are there where they differ from the
// block's; percentiles that find no place are in JSON.
func Truth(w io.Writer, s *metrics.Summary) error {
	if s.Truth == nil {
		return nil
	}
	var b bytes.Buffer
	title := " Beside the block "
	pad := truthWidth - len(title)
	fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("-", pad/2), title, strings.Repeat("-", pad-pad/2))
	latencies(&b, s)
	for _, fact := range facts {
		if text := fact.text(s); text != "" {
			fmt.Fprintf(&b, "%-*s %s\n", truthLabel, fact.label, text)
		}
	}
	if s.Trust != nil {
		for _, note := range s.Trust.Notes {
			wrap(&b, "Note: "+note)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// latencies writes a table of those that are not the block's.
func latencies(b *bytes.Buffer, s *metrics.Summary) {
	percentiles := s.Header.Config.Percentiles
	percentiles = percentiles[:min(len(percentiles), (truthWidth-truthLabel)/truthColumn-2)]
	t := s.Truth
	rows := []struct {
		label  string
		truth  *metrics.Distribution
		beside *metrics.Distribution
	}{
		{"TTFT to the first content", &t.ContentTTFT, &s.TTFT},
		{"TTFT from the request written", &t.WrittenTTFT, &s.TTFT},
		{"TTFT from when it was due", &t.ScheduledTTFT, &s.TTFT},
		{"E2EL from when it was due", &t.ScheduledE2EL, &s.E2EL},
	}
	var lines bytes.Buffer
	for _, row := range rows {
		if row.truth.Len() > 0 && math.Abs(row.truth.Mean()-row.beside.Mean()) >= 0.005 {
			tabulate(&lines, row.label, row.truth, percentiles)
		}
	}
	switch {
	case t.ITL.Len() > 0 && (t.Tokens.Differ() || t.Tokens.Blank > 0):
		tabulate(&lines, "ITL per token", &t.ITL, percentiles)
	case t.ITL.Len() == 0 && t.MeanITL > 0:
		fmt.Fprintf(&lines, "%-*s%*.2f\n", truthLabel, "ITL per token", truthColumn, t.MeanITL)
	}
	if lines.Len() == 0 {
		return
	}
	fmt.Fprintf(b, "%-*s%*s%*s", truthLabel, "", truthColumn, "mean (ms)", truthColumn, "median")
	for _, p := range percentiles {
		fmt.Fprintf(b, "%*s", truthColumn, "P"+metrics.FormatPercentile(p))
	}
	fmt.Fprintln(b)
	b.Write(lines.Bytes())
}

func tabulate(b *bytes.Buffer, label string, d *metrics.Distribution, percentiles []float64) {
	fmt.Fprintf(b, "%-*s%*.2f%*.2f", truthLabel, label, truthColumn, d.Mean(), truthColumn, d.Median())
	for _, p := range percentiles {
		fmt.Fprintf(b, "%*.2f", truthColumn, d.Percentile(p))
	}
	fmt.Fprintln(b)
}

// wrap writes a text in lines of the section's width, the further ones indented.
func wrap(b *bytes.Buffer, text string) {
	column := 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		switch {
		case column == 0:
		case column+1+n > truthWidth:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
