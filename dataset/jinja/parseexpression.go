package jinja

import "slices"

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
		op := p.current().text
		switch {
		case p.current().kind == tokenOperator && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, op):
			p.next()
		case p.skipName("in"):
			op = "in"
		case p.current().is(tokenName, "not") && p.ahead().is(tokenName, "in"):
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
	for p.current().kind == tokenOperator && slices.Contains(ops, p.current().text) {
		op := p.next().text
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
	case t.kind == tokenName:
		switch t.text {
		case "true", "True":
			return constant{true}
		case "false", "False":
			return constant{false}
		case "none", "None":
			return constant{nil}
		}
		p.used[t.text] = true
		p.names.read(t.text)
		return variable{t.text}
	case t.kind == tokenString:
		text := t.text
		for p.current().kind == tokenString {
			text += p.next().text
		}
		return constant{text}
	case t.kind == tokenNumber:
		return constant{t.value}
	case t.is(tokenOperator, "("):
		e := p.tuple(true, p.expression, "")
		p.expect(")")
		return e
	case t.is(tokenOperator, "["):
		return sequence{p.until("]", p.expression)}
	case t.is(tokenOperator, "{"):
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
	return t.kind == tokenVariableEnd || t.kind == tokenBlockEnd || t.is(tokenOperator, ")") || end != "" &&
		t.is(tokenName, end)
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
		case t.is(tokenOperator, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) member(of expression) expression {
	t := p.next()
	switch {
	case t.kind == tokenName:
		return member{of, t.text}
	case t.kind == tokenNumber:
		return element{of, constant{t.value}}
	}
	p.fail(t, "a name or a number is missing before %s", t)
	return nil
}

func (p *parser) element(of expression) expression {
	var bounds [3]expression
	colons := 0
	for !p.current().is(tokenOperator, "]") && !p.current().is(tokenOperator, ",") {
		if colons < 2 && p.skip(":") {
			colons++
			continue
		}
		if bounds[colons] != nil {
			break
		}
		bounds[colons] = p.expression()
	}
	if p.current().is(tokenOperator, ",") {
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
		case t.is(tokenOperator, "|"):
			p.next()
			e = p.filter(e)
		case t.is(tokenName, "is"):
			e = p.test(e)
		case t.is(tokenOperator, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) filter(of expression) filtered {
	f := filtered{line: p.current().line, name: p.name(), of: of}
	if p.current().is(tokenOperator, "(") {
		f.arguments = p.arguments()
	}
	return f
}

func (p *parser) test(of expression) expression {
	p.next()
	not := p.skipName("not")
	t := tested{line: p.current().line, name: p.name(), of: of}
	switch next := p.current(); {
	case next.is(tokenOperator, "("):
		t.arguments = p.arguments()
	case next.is(tokenName, "else") || next.is(tokenName, "or") || next.is(tokenName, "and"):
	case next.is(tokenName, "is"):
		p.fail(next, "tests cannot be chained")
	case next.kind == tokenName || next.kind == tokenString || next.kind == tokenNumber ||
		next.is(tokenOperator, "[") || next.is(tokenOperator, "{"):
		t.arguments.positional = []expression{p.postfix(p.primary())}
	}
	if not {
		return negation{t}
	}
	return t
}

func (p *parser) call(function expression) expression {
	line := p.current().line
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
		case t.kind == tokenName && p.ahead().is(tokenOperator, "="):
			p.next()
			p.next()
			l.names = append(l.names, t.text)
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
