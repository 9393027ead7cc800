package front

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The measures of a terminal's picture in pixels.
const (
	cell    = 8.5 // the width of a character of 14 pixels, in the widest of the fonts
	rowHigh = 19
	border  = 18
)

var (
	// escape matches a sequence that sets attributes of the text after it (ECMA-48, SGR).
	escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

	// fills are the colours of a terminal, by their codes.
	fills = map[string]string{
		"31": "#ff8a80", "32": "#7ee2a0", "33": "#ffc46b", "34": "#79b8ff", "35": "#d2a8ff", "36": "#76d9e6", "90": "#9aa5b1",
		"91": "#ff8a80", "92": "#7ee2a0", "93": "#ffc46b", "94": "#79b8ff", "95": "#d2a8ff", "96": "#76d9e6",
	}
)

// An ink is how text is written. The zero value is plain.
type ink struct {
	bold, dim bool
	fill      string
}

// set follows a code. An unknown code resets all, as 0 does.
func (k *ink) set(code string) {
	switch {
	case code == "1":
		k.bold = true
	case code == "2":
		k.dim = true
	case fills[code] != "":
		k.fill = fills[code]
	default:
		*k = ink{}
	}
}

func (k *ink) write(b *bytes.Buffer, text string) {
	if text == "" || *k == (ink{}) {
		b.WriteString(html.EscapeString(text))
		return
	}
	b.WriteString("<tspan")
	if k.bold {
		b.WriteString(` font-weight="700"`)
	}
	if k.dim {
		b.WriteString(` opacity=".65"`)
	}
	if k.fill != "" {
		fmt.Fprintf(b, ` fill="%s"`, k.fill)
	}
	fmt.Fprintf(b, ">%s</tspan>", html.EscapeString(text))
}

// Terminal draws text as a terminal shows it, on a dark background. It follows the ANSI
// sequences for bold, dim and colours in the text.
func Terminal(w io.Writer, text string) error {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	longest := 0
	for _, l := range lines {
		longest = max(longest, utf8.RuneCountInString(escape.ReplaceAllString(l, "")))
	}
	wide, high := float64(longest)*cell+2*border, float64(len(lines))*rowHigh+2*border
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e4e8ee" role="img">
<rect width="100%%" height="100%%" rx="8" fill="#0f1318"/>
`, wide, high)
	var k ink
	for i, l := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve">`, border, border+14+i*rowHigh)
		from := 0
		for _, at := range escape.FindAllStringSubmatchIndex(l, -1) {
			k.write(&b, l[from:at[0]])
			for code := range strings.SplitSeq(l[at[2]:at[3]], ";") {
				k.set(code)
			}
			from = at[1]
		}
		k.write(&b, l[from:])
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}
