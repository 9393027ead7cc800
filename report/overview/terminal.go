package overview

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/screen"
)

// The measures of a terminal's picture. All except columns are in pixels.
const (
	columns = 90
	cell    = 8.5 // the width of a character of 14 pixels, in the widest of the fonts
	high    = 19  // the height of a line
	border  = 18
)

// inks are the attributes of text by its Tone.
var inks = map[screen.Tone]string{
	screen.Good: `fill="#7ee2a0" font-weight="700"`, screen.Doubt: `fill="#ffc46b" font-weight="700"`, screen.Bad: `fill="#ff8a80" font-weight="700"`,
	screen.Strong: `font-weight="700"`, screen.Faint: `fill="#9aa5b1"`,
}

// terminal draws what a terminal shows at the end of a run: the block and the verdict. The
// background is dark for all readers.
func terminal(w io.Writer, s *metrics.Summary, v vllm.Version) error {
	var block strings.Builder
	if err := vllm.Block(&block, s, v); err != nil {
		return err
	}
	var lines []screen.Line
	for text := range strings.Lines(block.String()) {
		lines = append(lines, screen.Line{{Text: strings.TrimSuffix(text, "\n")}})
	}
	ending := report.Ending{Screen: screen.Screen{Width: columns}, More: "add --extended"}
	return drawn(w, append(lines, ending.Lines(s)...))
}

// drawn draws lines in a window that they fill.
func drawn(w io.Writer, lines []screen.Line) error {
	longest := 0
	for _, line := range lines {
		longest = max(longest, screen.Width(line.String()))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e4e8ee" role="img" aria-label="The end of a run on a terminal">
<rect width="100%%" height="100%%" rx="8" fill="#0f1318"/>
`, float64(longest)*cell+2*border, len(lines)*high+2*border)
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve">`, border, border+14+i*high)
		for _, span := range line {
			if ink := inks[span.Tone]; ink != "" {
				fmt.Fprintf(&b, "<tspan %s>%s</tspan>", ink, html.EscapeString(screen.Clean(span.Text)))
			} else {
				b.WriteString(html.EscapeString(screen.Clean(span.Text)))
			}
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}
