// Package builtin has the filters, tests and globals of Jinja that chat templates use, and two globals
// that transformers adds: raise_exception and strftime_now.
//
// They are functions of values. The ones that this package lacks raise an exception, see package python.
package builtin

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// Filter is v|name(a). It uses up a: it may move keyword arguments to their positions.
func Filter(m *python.Meter, name string, v python.Value, a *python.Arguments) python.Value {
	filter, ok := filterNamed(name)
	if !ok {
		python.Raise("the filter %s is not supported", name)
	}
	return filter(m, v, a)
}

type filterFunc = func(m *python.Meter, v python.Value, a *python.Arguments) python.Value

func filterNamed(name string) (filterFunc, bool) {
	switch name {
	case "map":
		return mapFilter, true
	case "select", "reject", "selectattr", "rejectattr":
		return func(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
			return chooseFilter(m, v, a, strings.HasSuffix(name, "attr"), strings.HasPrefix(name, "select"))
		}, true
	}
	filter, ok := filters[name]
	return filter, ok
}

var filters = map[string]filterFunc{
	"tojson": tojson,
	"length": func(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
		a.Expect("length", 0, 0)
		return python.Len(v)
	},
	"count": func(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
		a.Expect("count", 0, 0)
		return python.Len(v)
	},
	"string": func(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
		a.Expect("string", 0, 0)
		return softText(v)
	},
	"safe": func(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
		a.Expect("safe", 0, 0)
		return python.Markup(python.Text(v))
	},
	"escape":     escapeFilter,
	"e":          escapeFilter,
	"trim":       trimFilter,
	"lower":      textFilter("lower", python.Lower),
	"upper":      textFilter("upper", python.Upper),
	"capitalize": textFilter("capitalize", python.Capitalize),
	"title":      textFilter("title", python.TitleWords),
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
func softText(v python.Value) python.Value {
	if m, ok := v.(python.Markup); ok {
		return m
	}
	return python.Text(v)
}

// alike is text, marked as safe if v is.
func alike(v python.Value, text string) python.Value {
	if _, ok := v.(python.Markup); ok {
		return python.Markup(text)
	}
	return text
}

func textFilter(name string, change func(m *python.Meter, s string) string) filterFunc {
	return func(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
		a.Expect(name, 0, 0)
		return alike(v, change(m, python.Text(v)))
	}
}

func trimFilter(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("trim", 0, "chars")
	return alike(v, python.Strip(python.Text(v), a.Or(0, nil), true, true))
}

func escapeFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Expect("escape", 0, 0)
	if m, ok := v.(python.Markup); ok {
		return m
	}
	return python.Escaped(m, python.Text(v))
}

func defaultFilter(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("default", 0, "default_value", "boolean")
	_, isUndefined := v.(python.Undefined)
	if isUndefined || python.Truth(a.Or(1, false)) && !python.Truth(v) {
		return a.Or(0, "")
	}
	return v
}

func replaceFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("replace", 2, "old", "new", "count")
	count := -1
	if given := a.Or(2, nil); given != nil {
		count = python.AsInteger(given, "replace")
	}
	return python.Replace(m, python.Text(v), python.Text(a.At(0)), python.Text(a.At(1)), count)
}

func indentFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("indent", 0, "width", "first", "blank")
	indent, ok := a.Or(0, 4).(string)
	if !ok {
		width := max(python.AsInteger(a.Or(0, 4), "indent"), 0)
		m.Charge(width)
		indent = strings.Repeat(" ", width)
	}
	var b strings.Builder
	for i, line := range python.Lines(m, python.AsString(v, "indent")+"\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == 0 && python.Truth(a.Or(1, false)) || i > 0 && (line != "" || python.Truth(a.Or(2, false))) {
			m.Charge(len(indent))
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

func intFilter(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("int", 0, "default")
	refuseUnread(v)
	text, isString := v.(string)
	if !isString {
		f, isFloat, ok := python.Number(v)
		switch {
		case !ok:
			return a.Or(0, 0)
		case isFloat:
			return truncated(f, a)
		}
		return python.AsInteger(v, "int")
	}
	text = numeral("int", text)
	if integerText.MatchString(text) {
		n, err := strconv.Atoi(text)
		if err != nil {
			python.Raise("int: %s is too large", text)
		}
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); floatLike.MatchString(text) && err == nil {
		return truncated(f, a)
	}
	return a.Or(0, 0)
}

// refuseUnread refuses undefined and safe text, which are not read as numbers.
func refuseUnread(v python.Value) {
	switch v := v.(type) {
	case python.Undefined:
		python.Raise("%s", v)
	case python.Markup:
		python.Raise("a number in safe text is not supported")
	}
}

// numeral is text without the white space around it. It refuses spellings of
// numbers that only Python reads.
func numeral(filter, text string) string {
	text = strings.TrimFunc(text, python.IsSpace)
	for _, c := range text {
		if c == '_' || c > 0x7f {
			python.Raise("%s of %q is not supported", filter, text)
		}
	}
	return text
}

func truncated(f float64, a *python.Arguments) python.Value {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return a.Or(0, 0)
	case math.Abs(f) >= 1<<62:
		python.Raise("int: %s is too large", python.FloatText(f))
	}
	return int(f)
}

func floatFilter(_ *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("float", 0, "default")
	refuseUnread(v)
	if f, _, ok := python.Number(v); ok {
		return f
	}
	text, ok := v.(string)
	if !ok {
		return a.Or(0, 0.0)
	}
	text = numeral("float", text)
	if strings.ContainsAny(text, "nN") {
		python.Raise("float of %q is not supported", text)
	}
	if f, err := strconv.ParseFloat(text, 64); floatLike.MatchString(text) && err == nil {
		return f
	}
	return a.Or(0, 0.0)
}

func absFilter(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Expect("abs", 0, 0)
	if f, ok := v.(float64); ok {
		return math.Abs(f)
	}
	if n := python.AsInteger(v, "abs"); n < 0 {
		return python.Binary(m, "-", 0, n)
	}
	return python.AsInteger(v, "abs")
}

func tojson(m *python.Meter, v python.Value, a *python.Arguments) python.Value {
	a.Bind("tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys")
	style := python.JSONStyle{
		Ascii: python.Truth(a.Or(0, false)), SortKeys: python.Truth(a.Or(3, false)), ItemSeparator: ", ", KeyMark: ": ",
	}
	switch indent := a.Or(1, nil).(type) {
	case nil:
	case string:
		style.Breaks, style.Indent, style.ItemSeparator = true, indent, ","
	default:
		width := max(python.AsInteger(indent, "tojson"), 0)
		m.Charge(width)
		style.Breaks, style.Indent, style.ItemSeparator = true, strings.Repeat(" ", width), ","
	}
	if given := a.Or(2, nil); given != nil {
		both := python.Elements(m, given)
		if len(both) != 2 {
			python.Raise("tojson: separators are two")
		}
		style.ItemSeparator, style.KeyMark = python.AsString(both[0], "tojson"), python.AsString(both[1], "tojson")
	}
	return python.Dumps(m, v, style)
}
