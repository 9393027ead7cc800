package python

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringMethods are the methods of Python's str. Positions count characters, not
// bytes.
var stringMethods = map[string]func(m *Meter, s string, a *Arguments) Value{
	"strip":      func(_ *Meter, s string, a *Arguments) Value { return stripped(s, a, true, true) },
	"lstrip":     func(_ *Meter, s string, a *Arguments) Value { return stripped(s, a, true, false) },
	"rstrip":     func(_ *Meter, s string, a *Arguments) Value { return stripped(s, a, false, true) },
	"startswith": func(_ *Meter, s string, a *Arguments) Value { return hasAffix(s, a, strings.HasPrefix) },
	"endswith":   func(_ *Meter, s string, a *Arguments) Value { return hasAffix(s, a, strings.HasSuffix) },
	"lower":      plain("lower", Lower),
	"upper":      plain("upper", Upper),
	"title":      plain("title", title),
	"capitalize": plain("capitalize", Capitalize),
	"split":      func(m *Meter, s string, a *Arguments) Value { return split(m, s, a) },
	"rsplit":     func(m *Meter, s string, a *Arguments) Value { return rsplit(m, s, a) },
	"splitlines": func(m *Meter, s string, a *Arguments) Value { a.Expect("splitlines", 0, 0); return Lines(m, s) },
	"partition": func(_ *Meter, s string, a *Arguments) Value {
		head, tail, found := strings.Cut(s, separator("partition", a))
		if !found {
			return Tuple{s, "", ""}
		}
		return Tuple{head, a.At(0), tail}
	},
	"rpartition": func(_ *Meter, s string, a *Arguments) Value {
		sep := separator("rpartition", a)
		i := strings.LastIndex(s, sep)
		if i < 0 {
			return Tuple{"", "", s}
		}
		return Tuple{s[:i], sep, s[i+len(sep):]}
	},
	"replace": func(m *Meter, s string, a *Arguments) Value {
		a.Expect("replace", 2, 3)
		old, to := AsString(a.At(0), "replace"), AsString(a.At(1), "replace")
		return Replace(m, s, old, to, AsInteger(a.Or(2, -1), "replace"))
	},
	"join":  func(m *Meter, s string, a *Arguments) Value { return Join(m, s, Elements(m, a.Only("join"))) },
	"find":  func(_ *Meter, s string, a *Arguments) Value { return position("find", s, a, strings.Index) },
	"rfind": func(_ *Meter, s string, a *Arguments) Value { return position("rfind", s, a, strings.LastIndex) },
	"index": func(_ *Meter, s string, a *Arguments) Value { return found(position("index", s, a, strings.Index)) },
	"rindex": func(_ *Meter, s string, a *Arguments) Value {
		return found(position("rindex", s, a, strings.LastIndex))
	},
	"count": func(_ *Meter, s string, a *Arguments) Value { return position("count", s, a, strings.Count) },
	"removeprefix": func(_ *Meter, s string, a *Arguments) Value {
		return strings.TrimPrefix(s, AsString(a.Only("removeprefix"), "removeprefix"))
	},
	"removesuffix": func(_ *Meter, s string, a *Arguments) Value {
		return strings.TrimSuffix(s, AsString(a.Only("removesuffix"), "removesuffix"))
	},
	"isspace":   func(_ *Meter, s string, a *Arguments) Value { return all(s, IsSpace) },
	"isalpha":   func(_ *Meter, s string, a *Arguments) Value { return all(s, unicode.IsLetter) },
	"isdigit":   func(_ *Meter, s string, a *Arguments) Value { return asciiDigits("isdigit", s) },
	"isdecimal": func(_ *Meter, s string, a *Arguments) Value { return all(s, unicode.IsDigit) },
	"isnumeric": func(_ *Meter, s string, a *Arguments) Value { return asciiDigits("isnumeric", s) },
	"isupper":   func(_ *Meter, s string, a *Arguments) Value { return IsUpperText(s) },
	"islower":   func(_ *Meter, s string, a *Arguments) Value { return IsLowerText(s) },
	"format":    func(m *Meter, s string, a *Arguments) Value { return braces(m, s, a) },
}

// plain is a method without arguments.
func plain(name string, change func(m *Meter, s string) string) func(m *Meter, s string, a *Arguments) Value {
	return func(m *Meter, s string, a *Arguments) Value {
		a.Expect(name, 0, 0)
		return change(m, s)
	}
}

func stripped(s string, a *Arguments, left, right bool) Value {
	a.Expect("strip", 0, 1)
	return Strip(s, a.Or(0, nil), left, right)
}

// Strip removes the characters in chars from the ends of s; None stands for white space.
func Strip(s string, chars Value, left, right bool) string {
	cut := IsSpace
	if chars != nil {
		set := AsString(chars, "strip")
		cut = func(c rune) bool { return strings.ContainsRune(set, c) }
	}
	if left {
		s = strings.TrimLeftFunc(s, cut)
	}
	if right {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

func hasAffix(s string, a *Arguments, has func(s, affix string) bool) Value {
	affix := a.Only("startswith and endswith")
	if several, ok := affix.(Tuple); ok {
		for _, one := range several {
			if has(s, AsString(one, "startswith")) {
				return true
			}
		}
		return false
	}
	return has(s, AsString(affix, "startswith"))
}

func separator(method string, a *Arguments) string {
	sep := AsString(a.Only(method), method)
	if sep == "" {
		Raise("empty separator")
	}
	return sep
}

func position(method, s string, a *Arguments, find func(s, part string) int) int {
	i := find(s, AsString(a.Only(method), method))
	if method == "count" || i < 0 {
		return i
	}
	return utf8.RuneCountInString(s[:i])
}

func found(i int) Value {
	if i < 0 {
		Raise("substring not found")
	}
	return i
}

func all(s string, is func(rune) bool) Value {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return !is(c) }) < 0
}

func asciiDigits(method, s string) Value {
	if strings.IndexFunc(s, func(c rune) bool { return c > 0x7f && unicode.In(c, unicode.N, unicode.Lo) }) >= 0 {
		Raise("%s of %q is not supported", method, s)
	}
	return all(s, unicode.IsDigit)
}

// Replace is Python's s.replace(old, to, n). A negative n replaces all.
func Replace(m *Meter, s, old, to string, n int) string {
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	m.Charge(len(s))
	m.chargeProduct(len(to), count)
	return strings.Replace(s, old, to, n)
}

// Join is Python's separator.join(parts).
func Join(m *Meter, separator string, parts List) string {
	var texts []string
	for _, v := range parts {
		m.Charge(len(separator) + len(Text(v)))
		texts = append(texts, AsString(v, "join"))
	}
	return strings.Join(texts, separator)
}

func stringList(m *Meter, parts []string) List {
	m.Charge(16 * len(parts))
	items := make(List, len(parts))
	for i, part := range parts {
		items[i] = part
	}
	return items
}

// splitArguments are the separator, empty for white space, and how often to split.
func splitArguments(a *Arguments) (sep string, cuts int) {
	a.Bind("split", 0, "sep", "maxsplit")
	if v := a.Or(0, nil); v != nil {
		if sep = AsString(v, "split"); sep == "" {
			Raise("empty separator")
		}
	}
	return sep, AsInteger(a.Or(1, -1), "split")
}

func split(m *Meter, s string, a *Arguments) Value {
	sep, cuts := splitArguments(a)
	m.Charge(len(s))
	if sep != "" {
		return stringList(m, strings.SplitN(s, sep, bounded(cuts)))
	}
	var parts []string
	for s = strings.TrimLeftFunc(s, IsSpace); s != ""; s = strings.TrimLeftFunc(s, IsSpace) {
		end := strings.IndexFunc(s, IsSpace)
		if cuts >= 0 && len(parts) == cuts || end < 0 {
			parts = append(parts, s)
			break
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	return stringList(m, parts)
}

// bounded turns Python's number of splits into Go's number of parts.
func bounded(cuts int) int {
	if cuts < 0 || cuts+1 < 0 {
		return -1
	}
	return cuts + 1
}

func rsplit(m *Meter, s string, a *Arguments) Value {
	sep, cuts := splitArguments(a)
	m.Charge(len(s))
	if sep == "" && cuts >= 0 {
		Raise("rsplit at white space with a limit is not supported")
	}
	if sep == "" {
		return split(m, s, &Arguments{})
	}
	parts := strings.Split(s, sep)
	if cuts >= 0 && cuts+1 < len(parts) && cuts+1 > 0 {
		first := len(parts) - cuts
		head := strings.Join(parts[:first], sep)
		parts = append([]string{head}, parts[first:]...)
	}
	return stringList(m, parts)
}

// Lines splits s as Python's splitlines does.
func Lines(m *Meter, s string) List {
	m.Charge(len(s))
	parts := List{}
	for s != "" {
		i := strings.IndexFunc(s, func(c rune) bool {
			return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
		})
		if i < 0 {
			return append(parts, s)
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			size = 2
		}
		parts, s = append(parts, s[:i]), s[i+size:]
	}
	return parts
}
