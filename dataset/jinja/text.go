package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringMethods are the methods of Python's str. Positions count characters, not
// bytes.
var stringMethods = map[string]func(r *renderer, s string, a *arguments) value{
	"strip":      func(_ *renderer, s string, a *arguments) value { return strip(s, a, true, true) },
	"lstrip":     func(_ *renderer, s string, a *arguments) value { return strip(s, a, true, false) },
	"rstrip":     func(_ *renderer, s string, a *arguments) value { return strip(s, a, false, true) },
	"startswith": func(_ *renderer, s string, a *arguments) value { return hasAffix(s, a, strings.HasPrefix) },
	"endswith":   func(_ *renderer, s string, a *arguments) value { return hasAffix(s, a, strings.HasSuffix) },
	"lower":      func(r *renderer, s string, a *arguments) value { a.expect("lower", 0, 0); return r.lower(s) },
	"upper":      func(r *renderer, s string, a *arguments) value { a.expect("upper", 0, 0); return r.upper(s) },
	"title":      func(r *renderer, s string, a *arguments) value { a.expect("title", 0, 0); return r.title(s) },
	"capitalize": func(r *renderer, s string, a *arguments) value { a.expect("capitalize", 0, 0); return r.capitalize(s) },
	"split":      func(r *renderer, s string, a *arguments) value { return split(r, s, a) },
	"rsplit":     func(r *renderer, s string, a *arguments) value { return rsplit(r, s, a) },
	"splitlines": func(r *renderer, s string, a *arguments) value { a.expect("splitlines", 0, 0); return lines(r, s) },
	"partition": func(_ *renderer, s string, a *arguments) value {
		head, tail, found := strings.Cut(s, separator("partition", a))
		if !found {
			return tuple{s, "", ""}
		}
		return tuple{head, a.at(0), tail}
	},
	"rpartition": func(_ *renderer, s string, a *arguments) value {
		sep := separator("rpartition", a)
		i := strings.LastIndex(s, sep)
		if i < 0 {
			return tuple{"", "", s}
		}
		return tuple{s[:i], sep, s[i+len(sep):]}
	},
	"replace": func(r *renderer, s string, a *arguments) value {
		a.expect("replace", 2, 3)
		return r.replace(s, str(a.at(0), "replace"), str(a.at(1), "replace"), integer(a.or(2, -1), "replace"))
	},
	"join":  func(r *renderer, s string, a *arguments) value { return joinStrings(r, s, a) },
	"find":  func(_ *renderer, s string, a *arguments) value { return position("find", s, a, strings.Index) },
	"rfind": func(_ *renderer, s string, a *arguments) value { return position("rfind", s, a, strings.LastIndex) },
	"index": func(_ *renderer, s string, a *arguments) value { return found(position("index", s, a, strings.Index)) },
	"rindex": func(_ *renderer, s string, a *arguments) value {
		return found(position("rindex", s, a, strings.LastIndex))
	},
	"count": func(_ *renderer, s string, a *arguments) value { return position("count", s, a, strings.Count) },
	"removeprefix": func(_ *renderer, s string, a *arguments) value {
		return strings.TrimPrefix(s, str(a.only("removeprefix"), "removeprefix"))
	},
	"removesuffix": func(_ *renderer, s string, a *arguments) value {
		return strings.TrimSuffix(s, str(a.only("removesuffix"), "removesuffix"))
	},
	"isspace":   func(_ *renderer, s string, a *arguments) value { return all(s, isSpace) },
	"isalpha":   func(_ *renderer, s string, a *arguments) value { return all(s, unicode.IsLetter) },
	"isdigit":   func(_ *renderer, s string, a *arguments) value { return asciiDigits("isdigit", s) },
	"isdecimal": func(_ *renderer, s string, a *arguments) value { return all(s, unicode.IsDigit) },
	"isnumeric": func(_ *renderer, s string, a *arguments) value { return asciiDigits("isnumeric", s) },
	"isupper":   func(_ *renderer, s string, a *arguments) value { return cased(s, isUpper, isLower) },
	"islower":   func(_ *renderer, s string, a *arguments) value { return cased(s, isLower, isUpper) },
	"format":    func(r *renderer, s string, a *arguments) value { return r.braces(s, a) },
}

func strip(s string, a *arguments, left, right bool) value {
	a.expect("strip", 0, 1)
	cut := isSpace
	if chars := a.or(0, nil); chars != nil {
		set := str(chars, "strip")
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

func hasAffix(s string, a *arguments, has func(s, affix string) bool) value {
	affix := a.only("startswith and endswith")
	if several, ok := affix.(tuple); ok {
		for _, one := range several {
			if has(s, str(one, "startswith")) {
				return true
			}
		}
		return false
	}
	return has(s, str(affix, "startswith"))
}

func separator(method string, a *arguments) string {
	sep := str(a.only(method), method)
	if sep == "" {
		fail("empty separator")
	}
	return sep
}

func position(method, s string, a *arguments, find func(s, part string) int) int {
	i := find(s, str(a.only(method), method))
	if method == "count" || i < 0 {
		return i
	}
	return utf8.RuneCountInString(s[:i])
}

func found(i int) value {
	if i < 0 {
		fail("substring not found")
	}
	return i
}

func all(s string, is func(rune) bool) value {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return !is(c) }) < 0
}

func asciiDigits(method, s string) value {
	if strings.IndexFunc(s, func(c rune) bool { return c > 0x7f && unicode.In(c, unicode.N, unicode.Lo) }) >= 0 {
		fail("%s of %q is not supported", method, s)
	}
	return all(s, unicode.IsDigit)
}

func cased(s string, wanted, other func(rune) bool) value {
	return strings.ContainsFunc(s, wanted) && !strings.ContainsFunc(
		s, func(c rune) bool { return other(c) || unicode.IsTitle(c) })
}

func (r *renderer) replace(s, old, to string, n int) string {
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	r.charge(len(s))
	r.chargeProduct(len(to), count)
	return strings.Replace(s, old, to, n)
}

func joinStrings(r *renderer, s string, a *arguments) value {
	var parts []string
	for _, v := range elements(r, a.only("join")) {
		r.charge(len(s) + len(textOf(v)))
		parts = append(parts, str(v, "join"))
	}
	return strings.Join(parts, s)
}

func stringList(r *renderer, parts []string) list {
	r.charge(16 * len(parts))
	items := make(list, len(parts))
	for i, part := range parts {
		items[i] = part
	}
	return items
}

// splitArguments are the separator, empty for white space, and how often to split.
func splitArguments(a *arguments) (sep string, cuts int) {
	a.bind("split", 0, "sep", "maxsplit")
	if v := a.or(0, nil); v != nil {
		if sep = str(v, "split"); sep == "" {
			fail("empty separator")
		}
	}
	return sep, integer(a.or(1, -1), "split")
}

func split(r *renderer, s string, a *arguments) value {
	sep, cuts := splitArguments(a)
	r.charge(len(s))
	if sep != "" {
		return stringList(r, strings.SplitN(s, sep, bounded(cuts)))
	}
	var parts []string
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		end := strings.IndexFunc(s, isSpace)
		if cuts >= 0 && len(parts) == cuts || end < 0 {
			parts = append(parts, s)
			break
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	return stringList(r, parts)
}

// bounded turns Python's number of splits into Go's number of parts.
func bounded(cuts int) int {
	if cuts < 0 || cuts+1 < 0 {
		return -1
	}
	return cuts + 1
}

func rsplit(r *renderer, s string, a *arguments) value {
	sep, cuts := splitArguments(a)
	r.charge(len(s))
	if sep == "" && cuts >= 0 {
		fail("rsplit at white space with a limit is not supported")
	}
	if sep == "" {
		return split(r, s, &arguments{})
	}
	parts := strings.Split(s, sep)
	if cuts >= 0 && cuts+1 < len(parts) && cuts+1 > 0 {
		first := len(parts) - cuts
		head := strings.Join(parts[:first], sep)
		parts = append([]string{head}, parts[first:]...)
	}
	return stringList(r, parts)
}

// lines splits s as Python's splitlines does.
func lines(r *renderer, s string) list {
	r.charge(len(s))
	parts := list{}
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
