package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/cost"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/reasons"
	"github.com/servebench/servebench/report/screen"
)

// An Ending is what a reader sees below the block of a run: the verdict with its weightiest
// reasons, what to know about the numbers, and where the rest is.
type Ending struct {
	// Screen is where it is shown.
	Screen screen.Screen

	// Name tells the run from others that are shown with it; empty for a single one.
	Name string

	// Brief shows the weightiest reason alone, in two lines.
	Brief bool

	// Extended shows everything: the additional metrics, all reasons, notes and warnings.
	Extended bool

	// More says how to see everything, as "add --extended".
	More string
}

// How much an Ending shows unless it is Extended.
const (
	mostReasons = 3
	mostLines   = 8
	briefLines  = 2
)

// Write writes the Ending of s.
func (e *Ending) Write(w io.Writer, s *metrics.Summary) error {
	var whole error
	if e.Extended && s.Trust != nil {
		if e.Name != "" {
			fmt.Fprintf(w, "\n%s\n", screen.Clean(e.Name))
		}
		whole = additional(w, s, e.Screen.Readable())
	}
	return errors.Join(whole, e.Screen.Write(w, e.lines(s)...))
}

// lines are the verdict on s and what follows it, at most 8 lines that fit the Screen, or
// all that there is to say if the Ending is Extended. For a Summary without Trust, which comes from
// a result of vLLM, they say that nobody can judge it.
func (e *Ending) lines(s *metrics.Summary) []screen.Line {
	p := endingText{Ending: e, width: e.Screen.Readable()}
	if s.Trust == nil {
		p.unjudged(s)
		return p.lines
	}
	p.indent = len(s.Trust.Verdict) + 2
	if len(s.Trust.Warnings) > 0 && !e.Extended {
		p.indent = max(p.indent, len("WARNING: "))
	}
	if overloadedToo(s.Trust) && !e.Brief {
		p.indent = max(p.indent, len(verdict.Overloaded)+2)
	}
	p.last = len(p.more(10, 10)) // as long as it may get
	left := p.verdict(s)
	if e.Extended || e.Brief {
		return p.lines
	}
	if text := priceOf(s); text != "" {
		p.add(screen.Span{Text: "Price:"}, screen.Span{Text: text})
	}
	notes := 0
	for _, warning := range s.Trust.Warnings {
		if !p.add(screen.Span{Text: "WARNING:", Tone: screen.Doubt}, screen.Span{Text: warning}) {
			notes++
		}
	}
	for _, note := range noted(s) {
		if !p.add(screen.Span{Text: "Note:"}, screen.Span{Text: note}) {
			notes++
		}
	}
	return append(p.lines, p.more(left, notes)...)
}

// priceOf is what tokens cost in the run; empty if that is unknown.
func priceOf(s *metrics.Summary) string {
	in, out := cost.PerMillion(gpus.Dollars(s), s.Totals.Input), cost.PerMillion(gpus.Dollars(s), s.Totals.Output)
	if !(in > 0) || !(out > 0) {
		return ""
	}
	return fmt.Sprintf("$%.4g for a million input tokens, or $%.4g for a million output tokens", in, out)
}

// An endingText is an Ending while it is written.
type endingText struct {
	*Ending
	indent, width int
	lines         []screen.Line
	last          int // lines that say where the rest is
}

// add adds an item if there is space for it. It says whether it did.
func (p *endingText) add(label screen.Span, text ...screen.Span) bool {
	item := screen.Item(label, p.indent, p.width, text...)
	most := max(briefLines, mostLines-p.last)
	if p.Brief {
		most = briefLines
	}
	if !p.Extended && len(p.lines)+len(item) > most {
		if len(p.lines) > 0 {
			return false
		}
		item = append(item[:most-1], screen.Line{{Text: strings.Repeat(" ", p.indent) + "…"}})
	}
	p.lines = append(p.lines, item...)
	return true
}

// verdict adds the verdict with its reasons, those with one remedy together. It gives how
// many did not fit.
func (p *endingText) verdict(s *metrics.Summary) (left int) {
	label := screen.Span{Text: string(s.Trust.Verdict) + ":", Tone: verdictTone(s)}
	var name []screen.Span
	if p.Name != "" {
		name = []screen.Span{{Text: p.Name + ":", Tone: screen.Strong}}
	}
	why := reasons.Of(s.Trust)
	if !p.Extended {
		for i := range why {
			why[i].Shorten()
		}
	}
	if len(why) == 0 {
		figures := reasons.Figures(s.Trust)
		if p.Brief {
			figures = figures[:min(1, len(figures))]
		}
		p.add(label, append(name, screen.Span{Text: strings.Join(figures, "; ")})...)
	}
	for i, r := range why {
		text := append(name, screen.Span{Text: strings.Join(r.Texts, "; ")})
		if r.Remedy != "" {
			text = append(text, screen.Span{Text: "→ " + r.Remedy, Tone: screen.Strong})
		}
		shown := left == 0 && i < p.reasons()
		if r.Verdict != "" {
			label, shown = screen.Span{Text: string(r.Verdict) + ":", Tone: screen.Doubt}, !p.Brief
		}
		if !shown || !p.add(label, text...) {
			left++
			continue
		}
		label, name = screen.Span{}, nil
	}
	return left
}

// unjudged says why there is no verdict, and what is known about the percentiles.
func (p *endingText) unjudged(s *metrics.Summary) {
	const label = "NOT JUDGED:"
	p.indent = len(label) + 1
	text := []screen.Span{{Text: "vLLM's results say nothing about the client that measured them"}}
	if p.Name != "" {
		text = append([]screen.Span{{Text: p.Name + ":", Tone: screen.Strong}}, text...)
	}
	p.add(screen.Span{Text: label, Tone: screen.Doubt}, text...)
	if few := fewSamples(s); few != "" && !p.Brief {
		p.add(screen.Span{Text: "Note:"}, screen.Span{Text: few})
	}
}

// reasons are how many are shown at most.
func (e *Ending) reasons() int {
	switch {
	case e.Extended:
		return math.MaxInt
	case e.Brief:
		return 1
	}
	return mostReasons
}

func verdictTone(s *metrics.Summary) screen.Tone {
	switch s.Trust.Verdict {
	case verdict.Valid:
		return screen.Good
	case verdict.Overloaded:
		return screen.Doubt
	}
	return screen.Bad
}

// more says where the rest is, with how many reasons and notes are there.
func (p *endingText) more(reasons, notes int) []screen.Line {
	if p.More == "" {
		return nil
	}
	var parts []string
	if reasons > 0 {
		parts = append(parts, metrics.Counted(reasons, "reason"))
	}
	if notes > 0 {
		parts = append(parts, metrics.Counted(notes, "note"))
	}
	what := "additional metrics"
	if parts != nil {
		what = strings.Join(parts, ", ") + " and " + what
	}
	text := "for " + what + " " + p.More
	return screen.Item(screen.Span{Text: "More:", Tone: screen.Faint}, p.indent, p.width,
		screen.Span{Text: text, Tone: screen.Faint})
}

// overloadedToo says that a SUSPECT run has a backlog that grew.
func overloadedToo(t *verdict.Trust) bool {
	why := reasons.Of(t)
	return len(why) > 0 && why[len(why)-1].Verdict != ""
}

// noted are all notes on s, which has Trust.
func noted(s *metrics.Summary) []string {
	if few := fewSamples(s); few != "" {
		return append([]string{few}, s.Trust.Notes...)
	}
	return s.Trust.Notes
}

// fewSamples says which of the block's percentiles rest on too few samples to decide
// anything by: of each number of samples the highest one.
func fewSamples(s *metrics.Summary) string {
	type group struct {
		stats.TailSize
		names []string
	}
	var groups []*group
	for _, size := range s.TailSizes() {
		if !size.Few() {
			continue
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.N == size.N })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{TailSize: size})
		}
		g := groups[at]
		g.Percentile = max(g.Percentile, size.Percentile)
		if name := metrics.Label(size.Metric); !slices.Contains(g.names, name) {
			g.names = append(g.names, name)
		}
	}
	var parts []string
	for _, g := range groups {
		parts = append(parts, fmt.Sprintf("P%s of %s: %s (%s)",
			metrics.FormatPercentile(g.Percentile), metrics.Counted(g.N, "sample"), tail(g.TailSize),
			strings.Join(g.names, ", ")))
	}
	return strings.Join(parts, "; ")
}

// tail says how few samples a percentile rests on.
func tail(t stats.TailSize) string {
	if beyond := whole(t.Beyond()); beyond != fewerThanOne {
		return "only " + beyond + " beyond it"
	}
	return fewerThanOne + " beyond it"
}

const fewerThanOne = "fewer than 1"

// whole is an expected number of samples, rounded down.
func whole(samples float64) string {
	if samples < 1 {
		return fewerThanOne
	}
	return strconv.Itoa(int(samples))
}
