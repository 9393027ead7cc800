package program

import (
	"fmt"
	"slices"

	"github.com/servebench/servebench/dataset/jinja/lexer"
	"github.com/servebench/servebench/dataset/jinja/python"
)

// A parser turns the tokens of a template into a tree.
type parser struct {
	tokens []lexer.Token
	pos    int
	depth  int
	loops  int             // loops around the current tag, within its macro
	used   map[string]bool // names that the current macro mentions
	names  *names          // of the current scope
}

func (p *parser) fail(at lexer.Token, format string, args ...any) {
	python.Raise("line %d: %s", at.Line, fmt.Sprintf(format, args...))
}

// nest enters one level of the grammar, and refuses a template that nests too
// deeply. The function that it returns leaves the level.
func (p *parser) nest() func() {
	if p.depth++; p.depth > python.MaxDepth {
		p.fail(p.current(), "expressions or tags nest too deeply")
	}
	return func() { p.depth-- }
}

func (p *parser) current() lexer.Token { return p.tokens[p.pos] }

func (p *parser) ahead() lexer.Token { return p.tokens[min(p.pos+1, len(p.tokens)-1)] }

func (p *parser) next() lexer.Token {
	t := p.current()
	p.pos = min(p.pos+1, len(p.tokens)-1)
	return t
}

func (p *parser) skip(operator string) bool { return p.skipIf(lexer.Operator, operator) }

func (p *parser) skipName(name string) bool { return p.skipIf(lexer.Name, name) }

func (p *parser) skipIf(kind lexer.Kind, text string) bool {
	if !p.current().Is(kind, text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(operator string) {
	if t := p.current(); !p.skip(operator) {
		p.fail(t, "%q is missing before %s", operator, t)
	}
}

func (p *parser) name() string {
	t := p.next()
	if t.Kind != lexer.Name {
		p.fail(t, "a name is missing before %s", t)
	}
	return t.Text
}

func (p *parser) endTag() {
	if t := p.next(); t.Kind != lexer.BlockEnd {
		p.fail(t, "the end of the tag is missing before %s", t)
	}
}

// block parses text and tags up to a tag with one of the given names; this name is
// then the current token. Without names it parses to the end of the template.
func (p *parser) block(ends ...string) block {
	defer p.nest()()
	var b block
	for {
		t := p.next()
		switch t.Kind {
		case lexer.Data:
			b = append(b, data(t.Text))
		case lexer.VariableBegin:
			b = append(b, output{p.current().Line, p.tuple(false, p.expression, "")})
			if end := p.next(); end.Kind != lexer.VariableEnd {
				p.fail(end, "the end of the expression is missing before %s", end)
			}
		case lexer.BlockBegin:
			if p.current().Kind == lexer.Name && slices.Contains(ends, p.current().Text) {
				return b
			}
			b = append(b, p.statement())
			p.endTag()
		default:
			if len(ends) > 0 {
				p.fail(t, "the tag %q is missing", ends[len(ends)-1])
			}
			return b
		}
	}
}

// body parses the rest of a tag and its body, up to a tag with one of the given
// names, as block does.
func (p *parser) body(ends ...string) block {
	p.skip(":")
	p.endTag()
	return p.block(ends...)
}
