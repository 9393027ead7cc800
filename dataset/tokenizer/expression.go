package tokenizer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An expression reads the text of a regular expression. It refuses what it does not
// know, because a guess would count tokens wrongly.
type expression struct {
	rest    string
	fold    bool // inside (?i:…)
	classes map[string]class
}

// compile makes a pattern of its source.
func compile(source string) (*pattern, error) {
	e := &expression{rest: source, classes: make(map[string]class)}
	root, err := e.choice(nil)
	if err == nil && e.rest != "" {
		err = fmt.Errorf("an unmatched )")
	}
	if err == nil && root.match("", 0) >= 0 {
		err = fmt.Errorf("it matches the empty text")
	}
	if err != nil {
		return nil, fmt.Errorf("pattern %q is not supported yet: %w", source, err)
	}
	ways := []*step{root}
	if root.kind == choiceStep {
		ways = root.either
	}
	p := new(pattern)
	for b := range p.first {
		for _, way := range ways {
			if b == utf8.RuneSelf || way.begins(rune(b)) {
				p.first[b] = append(p.first[b], way)
			}
		}
	}
	return p, nil
}

// An element makes a step once the step after it is known.
type element func(next *step) *step

// choice reads alternatives up to a closing parenthesis or the end, and links
// them to next.
func (e *expression) choice(next *step) (*step, error) {
	ways, err := e.alternatives()
	if err != nil {
		return nil, err
	}
	return ways(next), nil
}

func (e *expression) alternatives() (element, error) {
	var ways []element
	for {
		way, err := e.sequence()
		if err != nil {
			return nil, err
		}
		ways = append(ways, way)
		if !e.take("|") {
			break
		}
	}
	if len(ways) == 1 {
		return ways[0], nil
	}
	return func(next *step) *step {
		s := &step{kind: choiceStep}
		for _, way := range ways {
			s.either = append(s.either, way(next))
		}
		return s
	}, nil
}

// sequence reads elements up to the end of an alternative.
func (e *expression) sequence() (element, error) {
	var elements []element
	for e.rest != "" && e.rest[0] != '|' && e.rest[0] != ')' {
		one, err := e.element()
		if err != nil {
			return nil, err
		}
		elements = append(elements, one)
	}
	return func(next *step) *step {
		for _, one := range slices.Backward(elements) {
			next = one(next)
		}
		return next
	}, nil
}

// element reads a group, a look-ahead or a class, with its quantifier.
func (e *expression) element() (element, error) {
	switch {
	case e.take("(?!"):
		c, err := e.class()
		if err == nil && !e.take(")") {
			err = fmt.Errorf("a look-ahead for more than one class")
		}
		return func(next *step) *step { return &step{kind: notStep, class: c, next: next} }, err
	case e.take("(?i:"):
		e.fold = true
		defer func() { e.fold = false }()
		return e.group()
	case e.take("(?:"):
		return e.group()
	}
	c, err := e.class()
	if err != nil {
		return nil, err
	}
	least, most, err := e.repeat()
	return func(next *step) *step { return &step{class: c, min: least, max: most, next: next} }, err
}

// group reads the rest of a group after its opening parenthesis.
func (e *expression) group() (element, error) {
	ways, err := e.alternatives()
	if err != nil {
		return nil, err
	}
	if !e.take(")") {
		return nil, fmt.Errorf("a group is not closed")
	}
	least, most, err := e.repeat()
	switch {
	case err != nil:
		return nil, err
	case least == 1 && most == 1:
		return ways, nil
	case least == 0 && most == 1:
		return func(next *step) *step { return &step{kind: choiceStep, either: []*step{ways(next), next}} }, nil
	}
	return nil, fmt.Errorf("a repeated group")
}

// repeat reads a quantifier, or none.
func (e *expression) repeat() (least, most int, err error) {
	least, most = 1, 1
	switch {
	case e.take("?"):
		least = 0
	case e.take("*"):
		least, most = 0, unlimited
	case e.take("+"):
		most = unlimited
	case e.take("{"):
		counts, rest, _ := strings.Cut(e.rest, "}")
		low, high, ranged := strings.Cut(counts, ",")
		if !ranged {
			high = low
		}
		e.rest = rest
		least, err = strconv.Atoi(low)
		if most = unlimited; err == nil && high != "" {
			most, err = strconv.Atoi(high)
		}
		if err != nil || least < 0 || most < max(least, 1) {
			return 0, 0, fmt.Errorf("the count {%s}", counts)
		}
	default:
		return least, most, nil
	}
	if e.rest != "" && strings.ContainsRune("?*+{", rune(e.rest[0])) {
		return 0, 0, fmt.Errorf("a quantifier before %q", e.rest[:1])
	}
	return least, most, nil
}

// class reads one rune or a class of runes. Equal classes are shared.
func (e *expression) class() (class, error) {
	before := e.rest
	var c class
	var err error
	if e.take("[") {
		c, err = e.brackets()
	} else {
		c, _, err = e.item(`|)(?*+{}[].^$`)
	}
	if err != nil {
		return nil, err
	}
	source := before[:len(before)-len(e.rest)]
	if e.fold {
		if c, err = folded(source); err != nil {
			return nil, err
		}
		source = "(?i)" + source
	}
	if _, known := e.classes[source]; !known {
		e.classes[source] = c
	}
	return e.classes[source], nil
}

// folded is an ASCII letter or apostrophe in either case, with the other runes that
// fold to it, such as the long s.
func folded(source string) (class, error) {
	if len(source) != 1 || source != "'" && !unicode.IsLetter(rune(source[0])) {
		return nil, fmt.Errorf("%q without regard to case", source)
	}
	r := rune(source[0])
	c := class(nil).with(r, r)
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		c = c.with(other, other)
	}
	return c, nil
}

// brackets reads a class after its opening bracket.
func (e *expression) brackets() (class, error) {
	var c class
	negated := e.take("^")
	for !e.take("]") {
		if e.rest == "" || strings.HasPrefix(e.rest, "&&") {
			return nil, fmt.Errorf("the class before %q", e.rest)
		}
		one, low, err := e.item(`[-`)
		if err != nil {
			return nil, err
		}
		if !e.take("-") {
			c = c.union(one)
			continue
		}
		_, high, err := e.item(`[]-`)
		if err != nil || low < 0 || high < low {
			return nil, fmt.Errorf("a range before %q", e.rest)
		}
		c = c.with(low, high)
	}
	if negated {
		c = c.complement()
	}
	return c, nil
}

// item reads an escaped class or a rune, which may not be a plain one of refused.
// The rune of a class is -1.
func (e *expression) item(refused string) (class, rune, error) {
	r, width := utf8.DecodeRuneInString(e.rest)
	if width == 0 || r == utf8.RuneError || strings.ContainsRune(refused, r) {
		return nil, 0, fmt.Errorf("%q here", e.rest[:width])
	}
	e.rest = e.rest[width:]
	if r == '\\' {
		return e.escape()
	}
	return class(nil).with(r, r), r, nil
}

// escape reads what follows a backslash.
func (e *expression) escape() (class, rune, error) {
	r, width := utf8.DecodeRuneInString(e.rest)
	source := e.rest[:width]
	e.rest = e.rest[width:]
	switch {
	case r == 's':
		return class(nil).withTable(unicode.White_Space), -1, nil
	case r == 'S':
		return class(nil).withTable(unicode.White_Space).complement(), -1, nil
	case r == 'd':
		return class(nil).withTable(unicode.Nd), -1, nil
	case r == 'p':
		name, rest, _ := strings.Cut(strings.TrimPrefix(e.rest, "{"), "}")
		table := unicode.Categories[name]
		if table == nil || e.rest[0] != '{' {
			return nil, 0, fmt.Errorf(`the class \p{%s}`, name)
		}
		e.rest = rest
		return class(nil).withTable(table), -1, nil
	case r == 'r' || r == 'n' || r == 't':
		r = map[rune]rune{'r': '\r', 'n': '\n', 't': '\t'}[r]
	case width != 1 || unicode.IsLetter(r) || unicode.IsDigit(r):
		return nil, 0, fmt.Errorf(`the escape \%s`, source)
	}
	return class(nil).with(r, r), r, nil
}

func (e *expression) take(prefix string) bool {
	rest, ok := strings.CutPrefix(e.rest, prefix)
	e.rest = rest
	return ok
}
