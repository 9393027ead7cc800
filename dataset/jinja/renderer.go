package jinja

import (
	"fmt"
	"maps"
	"strings"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// A renderer runs a template once.
type renderer struct {
	meter *python.Meter
	out   *strings.Builder
	line  int // of the statement that runs, for messages
	depth int // of macro calls
}

// render runs program with the given variables. Later ones take precedence.
func (r *renderer) render(program section, vars ...map[string]python.Value) (text string, err error) {
	outermost := &scope{vars: make(map[string]python.Value)}
	for _, some := range vars {
		maps.Copy(outermost.vars, some)
	}
	if err = python.Try(func() { text, _ = r.capture(program.block, program.scope(outermost)) }); err != nil {
		return "", fmt.Errorf("line %d: %w", r.line, err)
	}
	return text, nil
}

func (r *renderer) eval(e expression, s *scope) python.Value {
	r.meter.Charge(python.Step)
	return e.eval(r, s)
}

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

func (r *renderer) filterCaptured(filter expression, text string, s *scope) python.Value {
	if filter == nil {
		return text
	}
	inner := s.inner()
	inner.vars[capturedName] = text
	return r.eval(filter, inner)
}
