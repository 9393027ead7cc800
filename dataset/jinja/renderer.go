package jinja

import (
	"fmt"
	"maps"
	"strings"
	"time"
)

// A renderer runs a template once. Its budget limits the work and the memory of the
// template.
type renderer struct {
	out    *strings.Builder
	line   int // of the statement that runs, for messages
	depth  int // of macro calls
	budget int
	now    func() time.Time
}

// render runs body with the given variables.
func (r *renderer) render(program section, vars map[string]value) (text string, err error) {
	outermost := &scope{vars: globals()}
	maps.Copy(outermost.vars, vars)
	if err = caught(func() { text, _ = r.capture(program.block, program.scope(outermost)) }); err != nil {
		return "", fmt.Errorf("line %d: %w", r.line, err)
	}
	return text, nil
}

// Charges, in about the nanoseconds that the work takes. A byte of text costs 1.
const (
	step      = 16
	scopeCost = 256
)

// charge takes n from the budget.
func (r *renderer) charge(n int) {
	if r.budget -= n; r.budget < 0 {
		fail("the template does too much work or makes too much text")
	}
}

func (r *renderer) chargeProduct(size, times int) {
	if size > 0 && times > r.budget/size {
		r.budget = 0
		times = 1
	}
	r.charge(size * times)
}

func (r *renderer) eval(e expression, s *scope) value {
	r.charge(step)
	return e.eval(r, s)
}

func (r *renderer) write(text string) {
	r.charge(len(text))
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

func (r *renderer) filterCaptured(filter expression, text string, s *scope) value {
	if filter == nil {
		return text
	}
	inner := s.inner()
	inner.vars[capturedName] = text
	return r.eval(filter, inner)
}

func (r *renderer) call(called value, a *arguments) value {
	switch f := called.(type) {
	case function:
		return f.call(r, a)
	case *macro:
		return f.call(r, a)
	case undefined:
		fail("%s", f)
	}
	fail("'%s' object is not callable", typeName(called))
	return nil
}

// A failure stops parsing or rendering. It is a panic inside this package, and
// an error outside of it.
type failure struct{ err error }

func fail(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

// caught runs f and returns its failure as an error. Any other panic is a mistake in
// this package and continues.
func caught(f func()) (err error) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case failure:
			err = thrown.err
		default:
			panic(thrown)
		}
	}()
	f()
	return nil
}
