package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/aspect/sessions"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// The widths of the additional metrics in characters.
const (
	truthWidth  = 100
	truthColumn = 11
)

// truthText has the additional metrics: each has a line with its label, then its text, then an empty line, in
// the form of metrics.Kind.Text. A line of @ and the name of an aspect stands for the aspect's own. An aspect
// without such a line comes last.
//
//go:embed truth.tmpl
var truthText string

// A factLine is one line of the additional metrics, or the place of an aspect's.
type factLine struct {
	label, text *template.Template
	aspect      string
}

var factLines = sync.OnceValue(func() []factLine { return parseFactLines(truthText) })

func parseFactLines(text string) (lines []factLine) {
	if text == "" {
		return nil
	}
	functions := template.FuncMap{
		"beyond": beyond, "highest": func(s *metrics.Summary) string { return metrics.FormatPercentile(highest(s)) },
		"counted": metrics.Counted, "join": strings.Join,
		"share":        func(n, of int64) string { return layout.Decimal(float64(n) / float64(of) * 100) },
		"megabytes":    func(bytes int) string { return layout.Decimal(float64(bytes) / 1e6) },
		"milliseconds": func(d time.Duration) string { return layout.Decimal(metrics.Milliseconds(d)) },
		"known":        func(v any) bool { return v != nil }, "percent": func(share float64) float64 { return share * 100 },
		"sessions": sessions.Of, "start": processes.Start,
	}
	for fact := range strings.SplitSeq(text, "\n\n") {
		label, text, _ := strings.Cut(fact, "\n")
		if aspect, is := strings.CutPrefix(label, "@"); is {
			lines = append(lines, factLine{aspect: aspect})
			continue
		}
		parse := func(text string) *template.Template {
			return template.Must(template.New(label).Funcs(functions).Parse(text))
		}
		lines = append(lines, factLine{label: parse(label), text: parse(text)})
	}
	return lines
}

// write writes the fact after its label, unless its text is empty. Separators after the last part
// of the text are dropped.
func (l *factLine) write(b *bytes.Buffer, facts map[string]any, width int) error {
	var label, text strings.Builder
	if err := errors.Join(l.label.Execute(&label, facts), l.text.Execute(&text, facts)); err != nil {
		return err
	}
	if words := strings.TrimRight(text.String(), ",; \t\n"); words != "" {
		fmt.Fprintf(b, "%-*s", layout.Label, label.String())
		screen.Wrap(b, layout.Label, width, words)
	}
	return nil
}

// Truth writes the additional metrics of a run: what the block cannot say, then the notes and
// warnings of the verdict, in lines of 100 characters. It leaves out facts without a text, and
// latencies that equal the block's. Percentiles that do not fit are in JSON. It writes nothing for
// a Summary without Truth.
func Truth(w io.Writer, s *metrics.Summary) error { return additional(w, s, truthWidth) }

// additional is Truth in lines of a width, and of 100 characters at most; 0 is 100.
func additional(w io.Writer, s *metrics.Summary, width int) error {
	if s.Truth == nil {
		return nil
	}
	if width <= 0 || width > truthWidth {
		width = truthWidth
	}
	var b bytes.Buffer
	title := " Additional metrics "
	pad := max(0, width-len(title))
	fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("-", pad/2), title, strings.Repeat("-", pad-pad/2))
	latencies(&b, s, width)
	intervals(&b, s, width)
	facts := map[string]any{"run": s, "requests": s.Completed + s.Failed}
	for _, member := range truth(s) {
		facts[member.Key] = member.Value
	}
	if err := writeFacts(&b, s, facts, width); err != nil {
		return err
	}
	if s.Trust != nil {
		remarks(&b, "Note:", noted(s), width)
		remarks(&b, "WARNING:", s.Trust.Warnings, width)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeFacts writes the facts of a run in words.
func writeFacts(b *bytes.Buffer, s *metrics.Summary, facts map[string]any, width int) (err error) {
	of := map[string]metrics.Aspect{}
	lines := map[string][]factLine{}
	var unplaced []factLine
	for k, a := range metrics.Aspects(s) {
		of[k.Name], lines[k.Name] = a, parseFactLines(k.Text)
		if !slices.ContainsFunc(factLines(), func(l factLine) bool { return l.aspect == k.Name }) {
			unplaced = append(unplaced, factLine{aspect: k.Name})
		}
	}
	for _, line := range slices.Concat(factLines(), unplaced) {
		if line.aspect == "" {
			err = errors.Join(err, line.write(b, facts, width))
			continue
		}
		facts["aspect"] = of[line.aspect]
		for _, l := range lines[line.aspect] {
			err = errors.Join(err, l.write(b, facts, width))
		}
	}
	return err
}

func remarks(b *bytes.Buffer, label string, texts []string, width int) {
	for _, text := range texts {
		b.WriteString(label)
		screen.Wrap(b, len(label), width, text)
	}
}

// latencies writes a table of the latencies that the block does not have.
func latencies(b *bytes.Buffer, s *metrics.Summary, width int) {
	var rows bytes.Buffer
	percentiles := fitting(s.Header.Config.Percentiles, width)
	add := func(label string, of measure) {
		cells := []string{layout.Decimal(of.Mean()), layout.Decimal(of.Median())}
		for _, p := range percentiles {
			cells = append(cells, layout.Decimal(of.Percentile(p)))
		}
		layout.Line(&rows, label, truthColumn, cells...)
	}
	// differs adds a row if its mean visibly differs from the block's.
	differs := func(label string, d, block *metrics.Distribution) bool {
		visible := d.Len() > 0 && !(math.Abs(d.Mean()-block.Mean()) < 0.005)
		if visible {
			add(label, d)
		}
		return visible
	}
	t, moments := tokens.Of(s), since.Of(s)
	differs("TTFT to the first content", &reasoning.Of(s).ContentTTFT, &s.TTFT)
	if ttfo := s.TTFO(); ttfo != nil && ttfo.Len() > 0 {
		add("TTFO, after the reasoning", ttfo)
	}
	differs("TTFT from the request written", &moments.WrittenTTFT, &s.TTFT)
	differs("TTFT from when it was due", &moments.ScheduledTTFT, &s.TTFT)
	if differs("E2EL from when it was due", &moments.ScheduledE2EL, &s.E2EL) && !s.Header.Config.Selected("e2el") {
		add("E2EL from when it was sent", &s.E2EL)
	}
	switch {
	case t.ITL.Len() > 0 && (t.Differ() || t.Blank > 0):
		add("ITL per token", &t.ITL)
	case t.ITL.Len() == 0 && t.MeanITL > 0:
		layout.Line(&rows, "ITL per token", truthColumn, fmt.Sprintf("%.2f", t.MeanITL))
	}
	if failed := failures.Uncut(s); failed > 0 && s.Completed > 0 {
		add("TTFT, failures as infinite", s.TTFT.Endless(failed))
		add("E2EL, failures as infinite", s.E2EL.Endless(failed))
	}
	if rows.Len() > 0 {
		heads := slices.Concat([]string{"mean", "median"}, percentileHeads(percentiles))
		layout.Line(b, "Milliseconds", truthColumn, heads...)
		b.Write(rows.Bytes())
	}
}

// A measure has statistics in milliseconds, which may be infinite.
type measure interface {
	Mean() float64
	Median() float64
	Percentile(p float64) float64
}

// fitting are the percentiles for which there is space after the mean and the median.
func fitting(percentiles []float64, width int) []float64 {
	beside := slices.DeleteFunc(slices.Clone(percentiles), func(p float64) bool { return p == 50 })
	return beside[:min(len(beside), max(0, (width-layout.Label)/truthColumn-2))]
}

// percentileHeads are the heads of columns, as P99.
func percentileHeads(percentiles []float64) (heads []string) {
	for _, p := range percentiles {
		heads = append(heads, "P"+metrics.FormatPercentile(p))
	}
	return heads
}

// highest is the highest reported percentile below 100, which rests on the fewest samples; 0 for
// none.
func highest(s *metrics.Summary) (p float64) {
	for _, size := range s.TailSizes() {
		if size.Percentile < 100 {
			p = max(p, size.Percentile)
		}
	}
	return p
}

// beyond says how many samples of each latency are expected beyond the highest percentile.
func beyond(s *metrics.Summary) string {
	var parts []string
	for _, size := range s.TailSizes() {
		if p := highest(s); size.Percentile == p && p > 0 {
			parts = append(parts, metrics.Label(size.Metric)+" "+whole(size.Beyond()))
		}
	}
	return strings.Join(parts, ", ")
}
