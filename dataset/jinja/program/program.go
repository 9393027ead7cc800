// Package program parses a chat template and runs it.
//
// The source becomes tokens (package lexer), and a parser makes a tree of them: statements write text
// and set variables, and expressions are values of Python (package python) with filters and tests of
// Jinja (package builtin). The nodes of the tree run themselves. A renderer has what changes meanwhile,
// apart from the variables, which scopes hold.
package program

import (
	"fmt"
	"maps"

	"github.com/servebench/servebench/dataset/jinja/lexer"
	"github.com/servebench/servebench/dataset/jinja/python"
)

// A Program is a parsed template. It is safe for concurrent use.
type Program struct{ top section }

// Parse makes a Program of a template's source. An error names the line.
func Parse(source string) (*Program, error) {
	tokens, err := lexer.Tokens(source)
	if err != nil {
		return nil, err
	}
	program := new(Program)
	err = python.Try(func() {
		top := newNames()
		p := &parser{tokens: tokens, used: make(map[string]bool), names: top}
		program.top.block = p.block()
		program.top.unset = top.unset
		if p.current().Kind != lexer.End {
			p.fail(p.current(), "unknown tag %s", p.current())
		}
	})
	if err != nil {
		return nil, err
	}
	return program, nil
}

// Run is the text that the program makes. What it does charges m. Later variables take precedence over
// earlier ones of the same name. An error names the line.
func (p *Program) Run(m *python.Meter, vars ...map[string]python.Value) (text string, err error) {
	r := &renderer{meter: m}
	outermost := &scope{vars: make(map[string]python.Value)}
	for _, some := range vars {
		maps.Copy(outermost.vars, some)
	}
	if err = python.Try(func() { text, _ = r.capture(p.top.block, p.top.scope(outermost)) }); err != nil {
		return "", fmt.Errorf("line %d: %w", r.line, err)
	}
	return text, nil
}
