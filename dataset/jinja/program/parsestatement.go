package program

import (
	"slices"

	"github.com/servebench/servebench/dataset/jinja/lexer"
)

func (p *parser) statement() statement {
	t := p.current()
	switch p.name() {
	case "if":
		return p.conditional()
	case "for":
		return p.repetition()
	case "set":
		return p.assignment()
	case "macro":
		return p.macro()
	case "call":
		return p.callBlock()
	case "filter":
		f := filterBlock{filter: p.filterChain()}
		f.body = p.section(newNames(), "endfilter")
		p.next()
		return f
	case "with":
		return p.with()
	case "generation":
		return p.generation()
	case "break", "continue":
		if p.loops == 0 {
			p.fail(t, "%s outside of a loop", t.Text)
		}
		return jump(map[string]signal{"break": broken, "continue": continued}[t.Text])
	case "print":
		return p.printed(t.Line)
	}
	p.fail(t, "the tag %s is not supported", t)
	return nil
}

func (p *parser) printed(line int) statement {
	var b block
	for p.current().Kind != lexer.BlockEnd {
		if len(b) > 0 {
			p.expect(",")
		}
		b = append(b, output{line, p.expression()})
	}
	return b
}

func (p *parser) conditional() statement {
	c := conditional{line: p.current().Line, test: p.tupleWithoutChoice("")}
	p.names.branches++
	c.then = p.body("elif", "else", "endif")
	switch p.name() {
	case "elif":
		c.otherwise = block{p.conditional()}
	case "else":
		c.otherwise = p.body("endif")
		p.next()
	}
	p.names.branches--
	return c
}

func (p *parser) tupleWithoutChoice(end string) expression {
	return p.tuple(false, p.disjunction, end)
}

func (p *parser) repetition() statement {
	f := repetition{line: p.current().Line}
	outer := p.names
	p.names = newNames("loop")
	f.target = p.target(false, "in")
	loopNames := p.names
	p.names = outer
	if !p.skipName("in") {
		p.fail(p.current(), `"in" is missing before %s`, p.current())
	}
	f.over = p.tupleWithoutChoice("recursive")
	if p.skipName("if") {
		p.names = newNames()
		f.test = p.expression()
		p.names = outer
	}
	if p.current().Is(lexer.Name, "recursive") {
		p.fail(p.current(), "recursive loops are not supported")
	}
	p.loops++
	f.body = p.section(loopNames, "else", "endfor")
	p.loops--
	if p.name() == "else" {
		f.otherwise = p.section(newNames(), "endfor")
		p.next()
	}
	return f
}

// section parses the rest of a tag and its body, which is a scope with the names
// inner.
func (p *parser) section(inner *names, ends ...string) section {
	outer := p.names
	p.names = inner
	b := p.body(ends...)
	p.names = outer
	return section{b, inner.unset}
}

// literals are names that are values.
var literals = []string{"true", "false", "none", "True", "False", "None"}

// target parses the left side of an assignment: a name, an attribute of a
// namespace, or a tuple of these.
func (p *parser) target(attributes bool, end string) target {
	var names []target
	e := p.tuple(false, func() expression {
		t := p.next()
		switch {
		case t.Is(lexer.Operator, "("):
			names = append(names, p.target(attributes, ""))
			p.expect(")")
		case t.Kind != lexer.Name || slices.Contains(literals, t.Text):
			p.fail(t, "%s cannot be assigned to", t)
		case attributes && p.skip("."):
			names = append(names, attributeTarget{t.Text, p.name()})
		default:
			p.names.stored(t.Text)
			names = append(names, nameTarget(t.Text))
		}
		return constant{}
	}, end)
	if _, several := e.(tupleLiteral); several {
		return tupleTarget(names)
	}
	return names[0]
}

func (p *parser) assignment() statement {
	line := p.current().Line
	scope := p.names
	p.names = newNames()
	to := p.target(true, "")
	stored := p.names.unset
	p.names = scope
	defer func() { scope.stored(stored...) }() // after the names in the value
	if p.skip("=") {
		return assignment{line, to, p.tuple(false, p.expression, "")}
	}
	a := blockAssignment{line: line, to: to}
	if p.skip("|") {
		a.filter = p.filterChain()
	}
	a.body = p.section(newNames(), "endset")
	p.next()
	return a
}

// filterChain parses the filters of a block. They are applied to the variable
// capturedName.
func (p *parser) filterChain() expression {
	e := expression(p.filter(variable{capturedName}))
	for p.skip("|") {
		e = p.filter(e)
	}
	return e
}

func (p *parser) signature(inner *names) (parameters []parameter) {
	outer := p.names
	p.names = inner
	defer func() { p.names = outer }()
	p.expect("(")
	p.until(")", func() expression {
		t := p.current()
		parameter := parameter{name: p.name()}
		p.names.stored(parameter.name)
		if p.skip("=") {
			parameter.otherwise = p.expression()
		} else if n := len(parameters); n > 0 && parameters[n-1].otherwise != nil {
			p.fail(t, "a parameter without a default after one that has one")
		}
		parameters = append(parameters, parameter)
		return nil
	})
	return parameters
}

// closed parses the body of a macro, or of a tag that jinja2 turns into a macro. It counts loops
// and names from the start.
func (p *parser) closed(inner *names, end string) (body section, used map[string]bool) {
	outerLoops, outerUsed := p.loops, p.used
	p.loops, p.used = 0, make(map[string]bool)
	body, used = p.section(inner, end), p.used
	p.next()
	p.loops, p.used = outerLoops, outerUsed
	for name := range used {
		p.used[name] = true
	}
	return body, used
}

func (p *parser) macro() statement {
	m := definition{line: p.current().Line, name: p.name()}
	p.names.stored(m.name)
	inner := newNames("caller", "varargs", "kwargs")
	m.parameters = p.signature(inner)
	m.body, m.used = p.closed(inner, "endmacro")
	return m
}

func (p *parser) callBlock() statement {
	line := p.current().Line
	c := callBlock{caller: definition{line: line, name: "caller"}}
	inner := newNames()
	if p.current().Is(lexer.Operator, "(") {
		c.caller.parameters = p.signature(inner)
	}
	var ok bool
	if c.call, ok = p.expression().(call); !ok {
		p.fail(p.current(), "the call block has no call")
	}
	c.caller.body, c.caller.used = p.closed(inner, "endcall")
	return c
}

func (p *parser) generation() statement {
	body, _ := p.closed(newNames(), "endgeneration")
	return body
}

func (p *parser) with() statement {
	w := with{line: p.current().Line}
	inner := newNames()
	for p.current().Kind != lexer.BlockEnd {
		if len(w.targets) > 0 {
			p.expect(",")
		}
		name := p.name()
		inner.stored(name)
		w.targets = append(w.targets, nameTarget(name))
		p.expect("=")
		w.values = append(w.values, p.expression())
	}
	w.body = p.section(inner, "endwith")
	p.next()
	return w
}
