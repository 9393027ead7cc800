package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The sizes of a picture in pixels.
const (
	svgLeft   = 76
	svgRight  = 20
	svgBottom = 56
	svgTop    = 40
	svgLegend = 20 // of a line of the legend
	svgLetter = 7  // of a letter in the legend, about
)

// Colours that are readable on white and on black.
const svgInk, svgGrid = "#7a7a7a", "#7a7a7a"

var svgPalette = []string{"#2f7ed8", "#e07b00", "#23a05a", "#e0413e", "#9467e0", "#00a0a8", "#d557a8", "#a5731d",
	"#7d9a00", "#5b7f9f"}

func svgColor(i int) string {
	if i == Neutral {
		return "#8c8c8c"
	}
	return svgPalette[i%len(svgPalette)]
}

// An svg is a picture that is being drawn.
type svg struct {
	*Chart
	bytes.Buffer
	width, height float64
	top           float64 // of the plot
	foot          float64 // of the space for sloping names below it
}

// SVG draws the chart as a picture without a background, in colours for light and dark backgrounds.
func SVG(w io.Writer, c *Chart) error {
	const width, height = 720.0, 440.0
	p := &svg{Chart: c, width: width, height: height}
	p.foot = p.slope() * svgSlant
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="system-ui, sans-serif" font-size="13" fill="%s" role="img" aria-label="%s">`+"\n",
		width, height, svgInk, html.EscapeString(c.Title))
	fmt.Fprintf(p, `<title>%s</title>`+"\n", html.EscapeString(c.Title))
	p.text(svgLeft, 20, fmt.Sprintf(`font-size="%g" font-weight="600"`, titleSize(c.Title, width-svgLeft)), c.Title)
	p.legend()
	p.axes()
	fmt.Fprintf(p, `<clipPath id="plot"><rect x="%d" y="%.1f" width="%g" height="%.1f"/></clipPath>`+
		"\n<g clip-path=\"url(#plot)\">\n",
		svgLeft, p.top, width-svgLeft-svgRight, p.bottom()-p.top)
	for _, below := range []bool{true, false} {
		for i := range c.Series {
			if s := &c.Series[i]; (s.Style == Wide) == below {
				p.series(s)
			}
		}
	}
	p.limits()
	p.WriteString("</g>\n</svg>\n")
	_, err := w.Write(p.Bytes())
	return err
}

// titleSize is the size at which a title fits into a width, about.
func titleSize(title string, width float64) float64 {
	const most, least = 16, 11
	return max(least, min(most, math.Floor(width/(0.62*float64(len([]rune(title)))))))
}

func (p *svg) bottom() float64 { return p.height - svgBottom - p.foot }

// svgMost is the largest number of letters in a sloping name below the plot, and svgSlant the sine
// of its angle.
const svgMost, svgSlant = 24, 0.5

// slope is the length in pixels of the names below the plot if they are too long to stand next to
// each other, so that they slope; otherwise 0.
func (p *svg) slope() float64 {
	most := 0
	for _, name := range p.X.Names {
		most = max(most, len([]rune(name)))
	}
	if float64(most*svgLetter*len(p.X.Names)) <= p.width-svgLeft-svgRight {
		return 0
	}
	return float64(min(most, svgMost) * svgLetter)
}

func (p *svg) x(v float64) float64 { return svgLeft + p.X.place(v)*(p.width-svgLeft-svgRight) }
func (p *svg) y(v float64) float64 { return p.bottom() - p.Y.place(v)*(p.bottom()-p.top) }

func (p *svg) text(x, y float64, attributes, text string) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(text))
}

// legend names the series in as many lines as needed, and sets where the plot begins.
func (p *svg) legend() {
	x, y := float64(svgLeft), float64(svgTop)
	for _, s := range p.Series {
		width := float64(26 + svgLetter*len([]rune(s.Name)))
		if x > svgLeft && x+width > p.width-svgRight {
			x, y = svgLeft, y+svgLegend
		}
		fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="12" height="12" rx="2" fill="%s"/>`+"\n", x, y-10, svgColor(s.Color))
		p.text(x+17, y, "", s.Name)
		x += width + 10
	}
	p.top = y + 14
}

func (p *svg) axes() {
	for _, t := range p.X.ticks(8) {
		p.rule(p.x(t.at), p.top, p.x(t.at), p.bottom())
		x, y := p.x(t.at), p.bottom()+18
		if p.slope() > 0 {
			p.text(x, y, fmt.Sprintf(`text-anchor="end" transform="rotate(-30 %.1f %.1f)"`, x, y), shortened(t.text, svgMost))
			continue
		}
		p.text(x, y, `text-anchor="middle"`, t.text)
	}
	for _, t := range p.Y.ticks(6) {
		p.rule(svgLeft, p.y(t.at), p.width-svgRight, p.y(t.at))
		p.text(svgLeft-8, p.y(t.at)+4, `text-anchor="end"`, t.text)
	}
	p.text((svgLeft+p.width-svgRight)/2, p.height-14, `text-anchor="middle"`, p.X.Title)
	middle := (p.top + p.bottom()) / 2
	p.text(18, middle, fmt.Sprintf(`text-anchor="middle" transform="rotate(-90 18 %.1f)"`, middle), p.Y.Title)
}

// shortened is a text of at most n letters.
func shortened(text string, n int) string {
	if letters := []rune(text); len(letters) > n {
		return string(letters[:n-1]) + "…"
	}
	return text
}

func (p *svg) rule(x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-opacity="0.25"/>`+"\n", x1, y1, x2,
		y2, svgGrid)
}

func (p *svg) series(s *Series) {
	color := svgColor(s.Color)
	switch s.Style {
	case Bars:
		thick := s.Thick * (p.bottom() - p.top) / (p.Y.Max - p.Y.Min)
		if thick >= 4 {
			thick *= 0.8 // thinner ones touch, as gaps of less than a pixel make patterns
		}
		thick = max(1, thick)
		fmt.Fprintf(p, `<path stroke="%s" stroke-width="%.1f" d="`, color, thick)
		for i := range s.X {
			// A bar without length must be visible, too.
			fmt.Fprintf(p, "M%.1f %.1fH%.1f", p.x(s.X[i]), p.y(s.Y[i]), max(p.x(s.To[i]), p.x(s.X[i])+2))
		}
		p.WriteString("\"/>\n")
		return
	case Dots:
		p.dots(s, 1.6)
		return
	case Path:
		p.dots(s, 3.5)
	}
	width := `stroke-width="2"`
	if s.Style == Wide {
		width = `stroke-width="9" stroke-opacity="0.35" stroke-linecap="round"`
	}
	fmt.Fprintf(p, `<path fill="none" stroke="%s" %s stroke-linejoin="round" d="%s"/>`+"\n", color, width, p.path(s))
}

// path joins the known values, and leaves a gap where there is none. A value
// between two gaps is a dot.
func (p *svg) path(s *Series) string {
	var d strings.Builder
	pen := "M"
	for i := range s.X {
		if !finite(s.Y[i]) {
			pen = "M"
			continue
		}
		if pen == "L" && s.Style == Step {
			fmt.Fprintf(&d, "H%.1f", p.x(s.X[i]))
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", pen, p.x(s.X[i]), p.y(s.Y[i]))
		if pen == "M" && s.Style == Line && (i == len(s.Y)-1 || !finite(s.Y[i+1])) {
			d.WriteString("h2")
		}
		pen = "L"
	}
	return d.String()
}

func (p *svg) dots(s *Series, radius float64) {
	fmt.Fprintf(p, `<g fill="%s">`+"\n", svgColor(s.Color))
	for i := range s.X {
		if finite(s.Y[i]) {
			fmt.Fprintf(p, `<circle cx="%.1f" cy="%.1f" r="%.1f"/>`+"\n", p.x(s.X[i]), p.y(s.Y[i]), radius)
		}
	}
	p.WriteString("</g>\n")
}

func (p *svg) limits() {
	for _, l := range p.Limits {
		x1, y1, x2, y2 := float64(svgLeft), p.y(l.At), p.width-svgRight, p.y(l.At)
		textX, textY, anchor := x2-4, y1-5, "end"
		if l.Across {
			x1, y1, x2, y2 = p.x(l.At), p.top, p.x(l.At), p.bottom()
			textX, textY, anchor = x1-5, y2-8, "end"
		}
		fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#e0413e" stroke-width="1.5" stroke-dasharray="2 3"/>`+"\n", x1, y1, x2, y2)
		p.text(textX, textY, fmt.Sprintf(`text-anchor="%s" fill="#e0413e"`, anchor), l.Name)
	}
}
