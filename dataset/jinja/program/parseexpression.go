package program

import (
	"slices"

	"github.com/servebench/servebench/dataset/jinja/lexer"
)

// The grammar of expressions, from the loosest to the tightest binding.

func (p *parser) expression() expression {
	defer p.nest()()
	e := p.disjunction()
	for p.skipName("if") {
		test := p.disjunction()
		var otherwise expression
		if p.skipName("else") {
			otherwise = p.expression()
		}
		e = choice{test, e, otherwise}
	}
	return e
}

func (p *parser) disjunction() expression {
	e := p.conjunction()
	for p.skipName("or") {
		e = disjunction{e, p.conjunction()}
	}
	return e
}

func (p *parser) conjunction() expression {
	e := p.negation()
	for p.skipName("and") {
		e = conjunction{e, p.negation()}
	}
	return e
}

func (p *parser) negation() expression {
	defer p.nest()()
	if p.skipName("not") {
		return negation{p.negation()}
	}
	return p.comparison()
}

func (p *parser) comparison() expression {
	e := comparison{first: p.sum()}
	for {
		op := p.current().Text
		switch {
		case p.current().Kind == lexer.Operator && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, op):
			p.next()
		case p.skipName("in"):
			op = "in"
		case p.current().Is(lexer.Name, "not") && p.ahead().Is(lexer.Name, "in"):
			p.next()
			p.next()
			op = "not in"
		case len(e.ops) == 0:
			return e.first
		default:
			return e
		}
		e.ops = append(e.ops, op)
		e.operands = append(e.operands, p.sum())
	}
}

// leftToRight parses operands with operators of one precedence between them.
func (p *parser) leftToRight(operand func() expression, ops ...string) expression {
	e := operand()
	for p.current().Kind == lexer.Operator && slices.Contains(ops, p.current().Text) {
		op := p.next().Text
		e = operation{op, e, operand()}
	}
	return e
}

func (p *parser) sum() expression { return p.leftToRight(p.concatenation, "+", "-") }

func (p *parser) concatenation() expression {
	parts := []expression{p.product()}
	for p.skip("~") {
		parts = append(parts, p.product())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return concatenation{parts}
}

func (p *parser) product() expression { return p.leftToRight(p.power, "*", "/", "//", "%") }

func (p *parser) power() expression {
	return p.leftToRight(func() expression { return p.filters(p.unary()) }, "**")
}

func (p *parser) unary() expression {
	defer p.nest()()
	switch {
	case p.skip("-"):
		return p.postfix(signed{true, p.unary()})
	case p.skip("+"):
		return p.postfix(signed{false, p.unary()})
	}
	return p.postfix(p.primary())
}

func (p *parser) primary() expression {
	t := p.next()
	switch {
	case t.Kind == lexer.Name:
		switch t.Text {
		case "true", "True":
			return constant{true}
		case "false", "False":
			return constant{false}
		case "none", "None":
			return constant{nil}
		}
		p.used[t.Text] = true
		p.names.read(t.Text)
		return variable{t.Text}
	case t.Kind == lexer.String:
		text := t.Text
		for p.current().Kind == lexer.String {
			text += p.next().Text
		}
		return constant{text}
	case t.Kind == lexer.Number:
		return constant{t.Value}
	case t.Is(lexer.Operator, "("):
		e := p.tuple(true, p.expression, "")
		p.expect(")")
		return e
	case t.Is(lexer.Operator, "["):
		return sequence{p.until("]", p.expression)}
	case t.Is(lexer.Operator, "{"):
		return p.dict()
	}
	p.fail(t, "unexpected %s", t)
	return nil
}

// tuple parses one expression, or several with commas between them, which make a
// tuple. If end is not empty, the tuple ends before the name end.
func (p *parser) tuple(mayBeEmpty bool, part func() expression, end string) expression {
	var items []expression
	isTuple := false
	for !p.tupleEnds(end) {
		items = append(items, part())
		if !p.skip(",") {
			break
		}
		isTuple = true
	}
	switch {
	case isTuple || len(items) == 0 && mayBeEmpty:
		return tupleLiteral{items}
	case len(items) == 0:
		p.fail(p.current(), "an expression is missing before %s", p.current())
	}
	return items[0]
}

func (p *parser) tupleEnds(end string) bool {
	t := p.current()
	return t.Kind == lexer.VariableEnd || t.Kind == lexer.BlockEnd || t.Is(lexer.Operator, ")") || end != "" &&
		t.Is(lexer.Name, end)
}

// until parses parts with commas between them, up to the closing operator.
func (p *parser) until(closing string, part func() expression) []expression {
	var items []expression
	for !p.skip(closing) {
		if len(items) > 0 {
			p.expect(",")
			if p.skip(closing) {
				break
			}
		}
		items = append(items, part())
	}
	return items
}

func (p *parser) dict() expression {
	var d dictLiteral
	d.keys = p.until("}", func() expression {
		key := p.expression()
		p.expect(":")
		d.values = append(d.values, p.expression())
		return key
	})
	return d
}

// postfix parses .name, [key] and calls directly after an operand.
func (p *parser) postfix(e expression) expression {
	for {
		switch t := p.current(); {
		case p.skip("."):
			e = p.member(e)
		case p.skip("["):
			e = p.element(e)
		case t.Is(lexer.Operator, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) member(of expression) expression {
	t := p.next()
	switch {
	case t.Kind == lexer.Name:
		return member{of, t.Text}
	case t.Kind == lexer.Number:
		return element{of, constant{t.Value}}
	}
	p.fail(t, "a name or a number is missing before %s", t)
	return nil
}

func (p *parser) element(of expression) expression {
	var bounds [3]expression
	colons := 0
	for !p.current().Is(lexer.Operator, "]") && !p.current().Is(lexer.Operator, ",") {
		if colons < 2 && p.skip(":") {
			colons++
			continue
		}
		if bounds[colons] != nil {
			break
		}
		bounds[colons] = p.expression()
	}
	if p.current().Is(lexer.Operator, ",") {
		p.fail(p.current(), "several keys in one subscript are not supported")
	}
	p.expect("]")
	switch {
	case colons > 0:
		return subrange{of, bounds[0], bounds[1], bounds[2]}
	case bounds[0] == nil:
		p.fail(p.current(), "an empty subscript")
	}
	return element{of, bounds[0]}
}

// filters parses the filters, tests and calls after an operand and its postfixes.
func (p *parser) filters(e expression) expression {
	for {
		switch t := p.current(); {
		case t.Is(lexer.Operator, "|"):
			p.next()
			e = p.filter(e)
		case t.Is(lexer.Name, "is"):
			e = p.test(e)
		case t.Is(lexer.Operator, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) filter(of expression) filtered {
	f := filtered{line: p.current().Line, name: p.name(), of: of}
	if p.current().Is(lexer.Operator, "(") {
		f.arguments = p.arguments()
	}
	return f
}

func (p *parser) test(of expression) expression {
	p.next()
	not := p.skipName("not")
	t := tested{line: p.current().Line, name: p.name(), of: of}
	switch next := p.current(); {
	case next.Is(lexer.Operator, "("):
		t.arguments = p.arguments()
	case next.Is(lexer.Name, "else") || next.Is(lexer.Name, "or") || next.Is(lexer.Name, "and"):
	case next.Is(lexer.Name, "is"):
		p.fail(next, "tests cannot be chained")
	case next.Kind == lexer.Name || next.Kind == lexer.String || next.Kind == lexer.Number ||
		next.Is(lexer.Operator, "[") || next.Is(lexer.Operator, "{"):
		t.arguments.positional = []expression{p.postfix(p.primary())}
	}
	if not {
		return negation{t}
	}
	return t
}

func (p *parser) call(function expression) expression {
	line := p.current().Line
	return call{line, function, p.arguments()}
}

func (p *parser) arguments() argumentList {
	var l argumentList
	p.expect("(")
	p.until(")", func() expression {
		switch t := p.current(); {
		case l.restNamed != nil:
			p.fail(t, "an argument after **")
		case p.skip("*"):
			l.rest = p.expression()
		case p.skip("**"):
			l.restNamed = p.expression()
		case t.Kind == lexer.Name && p.ahead().Is(lexer.Operator, "="):
			p.next()
			p.next()
			l.names = append(l.names, t.Text)
			l.keywords = append(l.keywords, p.expression())
		case len(l.names) > 0 || l.rest != nil:
			p.fail(t, "a positional argument after others")
		default:
			l.positional = append(l.positional, p.expression())
		}
		return nil
	})
	return l
}
