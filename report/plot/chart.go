// Package plot turns the results of runs into charts.
//
// A Chart is data: lines, dots or bars over two axes, thinned out so that it is as small for two
// million samples as for a thousand. Chapters makes the charts of runs, SVG draws one as a picture,
// and package html shows them on a page.
package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Chart is one picture. It is plain data and its owner's to change.
type Chart struct {
	// Name has lower-case letters, digits and hyphens, and is unique in a Chapter.
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Note   string   `json:"note,omitempty"` // what a reader of the chart should know
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	Limits []Limit  `json:"limits,omitempty"`
	// Rows are the names of the rows of Bars, from 0 up, each as high as a bar is Thick; nil if the
	// rows are requests.
	Rows []string `json:"rows,omitempty"`
}

// An Axis goes from Min to Max, in the unit that its Title names. A Percentile
// axis holds −log₁₀(1−p), as HdrHistogram's plots do, and a Category axis the
// positions of Names.
type Axis struct {
	Title string   `json:"title"`
	Scale Scale    `json:"scale,omitempty"`
	Min   float64  `json:"min"`
	Max   float64  `json:"max"`
	Names []string `json:"names,omitempty"`
	Down  bool     `json:"down,omitempty"` // it begins at the top
}

// A Scale says how values lie on an Axis.
type Scale string

const (
	Linear     Scale = ""
	Log        Scale = "log" // base 10
	Percentile Scale = "percentile"
	Category   Scale = "category"
)

// A Style says how a Series is drawn.
type Style string

const (
	Line Style = "line"
	Step Style = "step" // each value lasts until the next X
	Dots Style = "dots"
	Path Style = "path" // dots joined in their order, in which X may go back
	Wide Style = "wide" // a broad pale Path without dots, below the others
	Bars Style = "bars" // from X to To at the height Y
)

// Neutral is the Color of what belongs to no single run.
const Neutral = -1

// A Series is values of one kind. X, Y and To are equally long. An unknown value is NaN.
// X ascends unless the Style says otherwise.
type Series struct {
	Name  string  `json:"name"`
	Style Style   `json:"style"`
	Color int     `json:"color"` // position in the palette, or Neutral
	X     Numbers `json:"xs"`
	Y     Numbers `json:"ys"`
	To    Numbers `json:"to,omitempty"`    // of Bars alone
	Thick float64 `json:"thick,omitempty"` // of Bars: from one to the next, in Y
}

// A Limit is a line across the chart, as of an SLO.
type Limit struct {
	Name   string  `json:"name"`
	At     float64 `json:"at"`
	Across bool    `json:"across,omitempty"` // it is a value of X, and the line upright
}

// Numbers are written to JSON with six digits, and as null where not finite.
type Numbers []float64

// MarshalJSON writes an array.
func (n Numbers) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if !finite(v) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, v, 'g', 6, 64)
	}
	return append(b, ']'), nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// add appends a point.
func (s *Series) add(x, y float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, y)
}

// known says that there is a value.
func (s *Series) known() bool { return slices.ContainsFunc(s.Y, finite) }

// follows tells whether the chart has a path over several loads.
func (c *Chart) follows() bool {
	return c.X.Scale != Category && slices.ContainsFunc(c.Series,
		func(s Series) bool { return s.Style == Path && len(s.X) > 1 })
}

// empty tells whether the chart has no value except 0, as for preemptions that never happened.
func (c *Chart) empty() bool {
	return !slices.ContainsFunc(c.Series, func(s Series) bool {
		return slices.ContainsFunc(s.Y, func(v float64) bool { return finite(v) && v != 0 })
	})
}

// If the largest value exceeds this multiple of the smallest, the scale is logarithmic: a limit for
// values of single requests, of which few are at the ends, and one for values of whole runs.
const (
	requestSpan = 100
	runSpan     = 20
)

// farLimit is how many times as large as the values a limit on a chart may be. A larger
// one would squeeze the values.
const farLimit = 2

// fit sets the ends of the axes. All values are inside. A limit far beyond them goes into the Note
// instead. A linear Y begins at 0, and with xFromZero so does X.
func (c *Chart) fit(xFromZero bool) {
	var xs, ys extent
	for _, s := range c.Series {
		for i := range s.X {
			if finite(s.Y[i]) {
				xs.add(s.X[i])
				ys.add(s.Y[i])
			}
		}
		xs.add(s.To...)
	}
	var inside []Limit
	for _, l := range c.Limits {
		axis, ends := &c.Y, &ys
		if l.Across {
			axis, ends = &c.X, &xs
		}
		if !(l.At <= ends.most*farLimit) || axis.Scale == Log && l.At <= 0 {
			c.Note = strings.TrimSpace(c.Note + " " + l.Name + " lies beyond the chart.")
			continue
		}
		inside = append(inside, l)
	}
	for _, l := range inside {
		if l.Across {
			xs.add(l.At)
		} else {
			ys.add(l.At * 1.08) // room for its name
		}
	}
	c.Limits = inside
	c.X.fit(xs, xFromZero)
	c.Y.fit(ys, true)
}

// fit sets the ends of the axis, unless they are set already.
func (a *Axis) fit(e extent, fromZero bool) {
	if a.Max > a.Min {
		return
	}
	switch a.Min, a.Max = e.least, e.most; {
	case !e.any:
		a.Min, a.Max = 0, 1
	case a.Scale == Category:
		a.Min, a.Max = -0.5, float64(len(a.Names))-0.5
	case a.Scale == Log:
		a.Min, a.Max = e.least/1.15, e.most*1.15
	case a.Scale == Linear:
		if fromZero {
			a.Min = min(0, e.least)
			a.Max += (a.Max - a.Min) * 0.05
		}
		if a.Max <= a.Min {
			a.Max = a.Min + 1
		}
	}
}

// An extent is the least and the greatest of finite values.
type extent struct {
	least, most float64
	any         bool
}

func (e *extent) add(values ...float64) {
	for _, v := range values {
		switch {
		case !finite(v):
		case !e.any:
			e.least, e.most, e.any = v, v, true
		default:
			e.least, e.most = min(e.least, v), max(e.most, v)
		}
	}
}

// scale is Log for positive values that span more than this, which would crowd on a
// linear scale.
func (e *extent) scale(span float64) Scale {
	if e.any && e.least > 0 && e.most/e.least > span {
		return Log
	}
	return Linear
}
