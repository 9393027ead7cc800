package program

import (
	"strings"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// A renderer is what one run of a program changes.
type renderer struct {
	meter *python.Meter
	out   *strings.Builder
	line  int // of the statement that runs, for messages
	depth int // of macro calls
}

// eval is the value of e in s.
func (r *renderer) eval(e expression, s *scope) python.Value {
	r.meter.Charge(python.Step)
	return e.eval(r, s)
}

// write adds to the text of the program, or of the block that is captured.
func (r *renderer) write(text string) {
	r.meter.Charge(len(text))
	r.out.WriteString(text)
}

// capture runs body and returns the text that it wrote.
func (r *renderer) capture(body block, s *scope) (text string, ended signal) {
	outer := r.out
	r.out = new(strings.Builder)
	ended = body.run(r, s)
	text = r.out.String()
	r.out = outer
	return text, ended
}

// filterCaptured applies the filters of a block to its text. filter is nil without.
func (r *renderer) filterCaptured(filter expression, text string, s *scope) python.Value {
	if filter == nil {
		return text
	}
	inner := s.inner()
	inner.vars[capturedName] = text
	return r.eval(filter, inner)
}
