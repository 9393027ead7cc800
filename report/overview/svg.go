package overview

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/screen"
)

// The measures of the picture in pixels.
const (
	width  = 1000
	edge   = 28
	inner  = width - 2*edge
	letter = 7.2 // of a letter of 14 pixels, about
	line   = 21
	tile   = 56
	tiles  = 6 // in a row
	rowOf  = 25
)

// mostRows is how many rows of a table the picture has.
const mostRows = 14

// The colours follow the reader's theme.
const style = `<style>
.ground{fill:#fff;stroke:#d5dae1}.panel{fill:#f6f7f9;stroke:#d5dae1}.ink{fill:#1b1f24}.soft{fill:#57606a}.rule{stroke:#d5dae1}.margin{fill:#8c959f;fill-opacity:.2}
.good{fill:#12703a}.bad{fill:#b3261e}.open{fill:#8a4b00}.on-good{fill:#dff3e6}.on-bad{fill:#fde3e1}.on-open{fill:#fff0d6}
.span-good{fill:#12703a;stroke:#12703a}.span-bad{fill:#b3261e;stroke:#b3261e}.span-open{fill:#0b5cad;stroke:#0b5cad}
@media (prefers-color-scheme: dark) {
.ground{fill:#0f1318;stroke:#313a45}.panel{fill:#171c23;stroke:#313a45}.ink{fill:#e4e8ee}.soft{fill:#9aa5b1}.rule{stroke:#313a45}
.good{fill:#7ee2a0}.bad{fill:#ff8a80}.open{fill:#ffc46b}.on-good{fill:#12351f}.on-bad{fill:#47191a}.on-open{fill:#3d2a08}
.span-good{fill:#7ee2a0;stroke:#7ee2a0}.span-bad{fill:#ff8a80;stroke:#ff8a80}.span-open{fill:#79b8ff;stroke:#79b8ff}
}
</style>
`

// A picture is drawn from top to bottom. Its next element goes to y.
type picture struct {
	bytes.Buffer
	y float64
}

// svg draws the first screen as a picture, for a README or a pull request. Its background
// follows the reader's light or dark theme.
func (f *Front) svg(w io.Writer) error {
	p := &picture{y: edge + 18}
	p.text(edge, p.y, `class="ink" font-size="24" font-weight="600"`, screen.Cut(f.Title, 68))
	p.y += 26
	p.text(edge, p.y, `class="soft"`, screen.Cut(f.About, 125))
	p.y += 14
	for _, v := range f.Verdicts {
		p.verdict(v)
	}
	const most = inner * 10 / 72 // letters in a line
	for i, text := range wrapped(f.Apart, most) {
		p.y += line
		if i == 0 {
			p.y += 6
		}
		p.text(edge, p.y, `class="soft"`, text)
	}
	p.y += 14
	var err error
	switch {
	case f.Table != nil && f.Table.Drawn > 0:
		err = p.columns(f)
	default:
		p.facts(f.Facts)
		if f.Table != nil {
			p.table(f.Table, inner)
		}
		err = p.chart(f.Chart, edge, inner, 340)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif" font-size="14" role="img" aria-label="%s">
<title>%[3]s</title>
%s<rect class="ground" x=".5" y=".5" width="%d" height="%.0f" rx="10"/>
%s</svg>
`, width, p.y+edge-8, html.EscapeString(f.Title), style, width-1, p.y+edge-9, p.Bytes())
	return err
}

func (p *picture) text(x, y float64, attributes, text string) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(screen.Clean(text)))
}

// verdict writes the word on a badge, and the reasons next to it in at most three lines.
func (p *picture) verdict(v Verdict) {
	tone, wide := v.Tone(), float64(screen.Width(v.Word))*9+20
	p.y += line + 6
	fmt.Fprintf(p, `<rect class="on-%s" x="%d" y="%.1f" width="%.1f" height="22" rx="11"/>`+"\n", tone, edge, p.y-16, wide)
	p.text(edge+wide/2, p.y, fmt.Sprintf(`class="%s" font-weight="700" font-size="13" letter-spacing=".4" text-anchor="middle"`, tone), v.Word)
	lines := wrapped(v.Short(), int((inner-wide-10)/letter))
	for i, text := range lines[:min(len(lines), 3)] {
		if i > 0 {
			p.y += line
		}
		p.text(edge+wide+10, p.y, `class="ink"`, text)
	}
}

// wrapped is the text in lines of at most n columns of a terminal, where its words allow.
func wrapped(text string, n int) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && screen.Width(lines[last])+1+screen.Width(word) <= n {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func (p *picture) facts(all []Fact) {
	const gap = 10
	wide := (inner - gap*(tiles-1)) / float64(tiles)
	for i, fact := range all {
		x, y := edge+float64(i%tiles)*(wide+gap), p.y+float64(i/tiles)*(tile+gap)
		fmt.Fprintf(p, `<rect class="panel" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="7"/>`+"\n", x, y, wide, tile)
		p.text(x+10, y+20, `class="soft" font-size="12"`, fact.Name)
		p.text(x+10, y+43, `class="ink" font-size="16" font-weight="600"`, fact.Value)
	}
	if len(all) > 0 {
		p.y += float64((len(all)-1)/tiles+1)*(tile+gap) + 6
	}
}

// columns draws the table at the left and the chart at the right.
func (p *picture) columns(f *Front) error {
	const table = 600
	top := p.y
	p.table(f.Table, table)
	bottom := p.y
	p.y = top
	err := p.chart(f.Chart, edge+table+20, inner-table-20, max(300, bottom-top))
	p.y = max(p.y, bottom)
	return err
}

func (p *picture) chart(c *plot.Chart, x, wide, high float64) error {
	if c == nil {
		return nil
	}
	fmt.Fprintf(p, `<svg x="%.1f" y="%.1f" width="%.1f" height="%.1f">`+"\n", x, p.y, wide, high)
	err := plot.Draw(p, c, wide, high)
	p.WriteString("</svg>\n")
	p.y += high
	return err
}
