package jinja

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// filter applies the filter of that name.
func (r *renderer) filter(name string, v value, a *arguments) value {
	filter, ok := filterNamed(name)
	if !ok {
		fail("the filter %s is not supported", name)
	}
	return filter(r, v, a)
}

type filterFunc = func(r *renderer, v value, a *arguments) value

func filterNamed(name string) (filterFunc, bool) {
	switch name {
	case "map":
		return mapFilter, true
	case "select", "reject", "selectattr", "rejectattr":
		return func(r *renderer, v value, a *arguments) value {
			return chooseFilter(r, v, a, strings.HasSuffix(name, "attr"), strings.HasPrefix(name, "select"))
		}, true
	}
	filter, ok := filters[name]
	return filter, ok
}

var filters = map[string]filterFunc{
	"tojson":     tojson,
	"length":     func(_ *renderer, v value, a *arguments) value { a.expect("length", 0, 0); return length(v) },
	"count":      func(_ *renderer, v value, a *arguments) value { a.expect("count", 0, 0); return length(v) },
	"string":     func(_ *renderer, v value, a *arguments) value { a.expect("string", 0, 0); return softText(v) },
	"safe":       func(_ *renderer, v value, a *arguments) value { a.expect("safe", 0, 0); return markup(textOf(v)) },
	"escape":     escapeFilter,
	"e":          escapeFilter,
	"trim":       trimFilter,
	"lower":      textFilter("lower", (*renderer).lower),
	"upper":      textFilter("upper", (*renderer).upper),
	"capitalize": textFilter("capitalize", (*renderer).capitalize),
	"title":      textFilter("title", (*renderer).titleWords),
	"default":    defaultFilter,
	"d":          defaultFilter,
	"replace":    replaceFilter,
	"indent":     indentFilter,
	"int":        intFilter,
	"float":      floatFilter,
	"abs":        absFilter,
	"join":       joinFilter,
	"list":       listFilter,
	"items":      itemsFilter,
	"dictsort":   dictsortFilter,
	"first":      firstFilter,
	"last":       lastFilter,
	"reverse":    reverseFilter,
	"sort":       sortFilter,
	"unique":     uniqueFilter,
	"min":        extremeFilter(-1),
	"max":        extremeFilter(1),
	"sum":        sumFilter,
}

// softText is v as a string; safe text stays safe.
func softText(v value) value {
	if m, ok := v.(markup); ok {
		return m
	}
	return textOf(v)
}

// alike is text, marked as safe if v is.
func alike(v value, text string) value {
	if _, ok := v.(markup); ok {
		return markup(text)
	}
	return text
}

func textFilter(name string, change func(r *renderer, s string) string) filterFunc {
	return func(r *renderer, v value, a *arguments) value {
		a.expect(name, 0, 0)
		return alike(v, change(r, textOf(v)))
	}
}

func trimFilter(_ *renderer, v value, a *arguments) value {
	a.bind("trim", 0, "chars")
	return alike(v, strip(textOf(v), a, true, true).(string))
}

func escapeFilter(r *renderer, v value, a *arguments) value {
	a.expect("escape", 0, 0)
	if m, ok := v.(markup); ok {
		return m
	}
	return r.escaped(textOf(v))
}

func defaultFilter(_ *renderer, v value, a *arguments) value {
	a.bind("default", 0, "default_value", "boolean")
	_, isUndefined := v.(undefined)
	if isUndefined || truth(a.or(1, false)) && !truth(v) {
		return a.or(0, "")
	}
	return v
}

func replaceFilter(r *renderer, v value, a *arguments) value {
	a.bind("replace", 2, "old", "new", "count")
	count := -1
	if given := a.or(2, nil); given != nil {
		count = integer(given, "replace")
	}
	return r.replace(textOf(v), textOf(a.at(0)), textOf(a.at(1)), count)
}

func indentFilter(r *renderer, v value, a *arguments) value {
	a.bind("indent", 0, "width", "first", "blank")
	indent, ok := a.or(0, 4).(string)
	if !ok {
		width := max(integer(a.or(0, 4), "indent"), 0)
		r.charge(width)
		indent = strings.Repeat(" ", width)
	}
	var b strings.Builder
	for i, line := range lines(r, str(v, "indent")+"\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == 0 && truth(a.or(1, false)) || i > 0 && (line != "" || truth(a.or(2, false))) {
			r.charge(len(indent))
			b.WriteString(indent)
		}
		b.WriteString(line.(string))
	}
	return b.String()
}

var (
	integerText = regexp.MustCompile(`^[+-]?[0-9]+$`)
	floatLike   = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

func intFilter(_ *renderer, v value, a *arguments) value {
	a.bind("int", 0, "default")
	refuseUnread(v)
	text, isString := v.(string)
	if !isString {
		f, isFloat, ok := number(v)
		switch {
		case !ok:
			return a.or(0, 0)
		case isFloat:
			return truncated(f, a)
		}
		return integer(v, "int")
	}
	text = numeral("int", text)
	if integerText.MatchString(text) {
		n, err := strconv.Atoi(text)
		if err != nil {
			fail("int: %s is too large", text)
		}
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); floatLike.MatchString(text) && err == nil {
		return truncated(f, a)
	}
	return a.or(0, 0)
}

// refuseUnread refuses undefined and safe text, which are not read as numbers.
func refuseUnread(v value) {
	switch v := v.(type) {
	case undefined:
		fail("%s", v)
	case markup:
		fail("a number in safe text is not supported")
	}
}

// numeral is text without the white space around it. It refuses spellings of
// numbers that only Python reads.
func numeral(filter, text string) string {
	text = strings.TrimFunc(text, isSpace)
	for _, c := range text {
		if c == '_' || c > 0x7f {
			fail("%s of %q is not supported", filter, text)
		}
	}
	return text
}

func truncated(f float64, a *arguments) value {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return a.or(0, 0)
	case math.Abs(f) >= 1<<62:
		fail("int: %s is too large", floatText(f))
	}
	return int(f)
}

func floatFilter(_ *renderer, v value, a *arguments) value {
	a.bind("float", 0, "default")
	refuseUnread(v)
	if f, _, ok := number(v); ok {
		return f
	}
	text, ok := v.(string)
	if !ok {
		return a.or(0, 0.0)
	}
	text = numeral("float", text)
	if strings.ContainsAny(text, "nN") {
		fail("float of %q is not supported", text)
	}
	if f, err := strconv.ParseFloat(text, 64); floatLike.MatchString(text) && err == nil {
		return f
	}
	return a.or(0, 0.0)
}

func absFilter(_ *renderer, v value, a *arguments) value {
	a.expect("abs", 0, 0)
	if f, ok := v.(float64); ok {
		return math.Abs(f)
	}
	if n := integer(v, "abs"); n < 0 {
		return integerOperation("-", 0, n)
	}
	return integer(v, "abs")
}

func tojson(r *renderer, v value, a *arguments) value {
	a.bind("tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys")
	d := dumper{ascii: truth(a.or(0, false)), sortKeys: truth(a.or(3, false)), itemSeparator: ", ", keyMark: ": ",
		renderer: r}
	switch indent := a.or(1, nil).(type) {
	case nil:
	case string:
		d.breaks, d.indent, d.itemSeparator = true, indent, ","
	default:
		width := max(integer(indent, "tojson"), 0)
		r.charge(width)
		d.breaks, d.indent, d.itemSeparator = true, strings.Repeat(" ", width), ","
	}
	if given := a.or(2, nil); given != nil {
		both := elements(r, given)
		if len(both) != 2 {
			fail("tojson: separators are two")
		}
		d.itemSeparator, d.keyMark = str(both[0], "tojson"), str(both[1], "tojson")
	}
	d.dump(v, 0)
	return d.String()
}
