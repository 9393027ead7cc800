package python

import (
	"strings"
	"unicode"
)

// Case mappings of Python's str. They refuse a character that becomes several, or
// that depends on its neighbours.

// several are ranges that hold all characters whose upper or title case is longer.
var several = [][2]rune{
	{0xdf, 0xdf}, {0x149, 0x149}, {0x1f0, 0x1f0}, {0x390, 0x390}, {0x3b0, 0x3b0}, {0x587, 0x587},
	{0x1e96, 0x1e9a}, {0x1f50, 0x1f56}, {0x1f80, 0x1fff}, {0xfb00, 0xfb17},
}

func refuseSeveral(s string) {
	for _, c := range s {
		for _, r := range several {
			if c >= r[0] && c <= r[1] {
				Raise("the upper case of %q is not supported", c)
			}
		}
	}
}

func refuseSigma(s string) {
	if strings.ContainsAny(s, "Σİ") {
		Raise("the lower case of 'Σ' and 'İ' is not supported")
	}
}

// Lower is Python's s.lower().
func Lower(m *Meter, s string) string {
	m.Charge(len(s))
	refuseSigma(s)
	return strings.Map(unicode.ToLower, s)
}

// Upper is Python's s.upper().
func Upper(m *Meter, s string) string {
	m.Charge(len(s))
	refuseSeveral(s)
	return strings.Map(unicode.ToUpper, s)
}

// Capitalize is Python's s.capitalize().
func Capitalize(m *Meter, s string) string {
	m.Charge(len(s))
	refuseSeveral(s)
	refuseSigma(s)
	first := true
	return strings.Map(func(c rune) rune {
		if first {
			first = false
			return unicode.ToTitle(c)
		}
		return unicode.ToLower(c)
	}, s)
}

func title(m *Meter, s string) string {
	m.Charge(len(s))
	refuseSeveral(s)
	refuseSigma(s)
	inWord := false
	return strings.Map(func(c rune) rune {
		mapped := unicode.ToTitle(c)
		if inWord {
			mapped = unicode.ToLower(c)
		}
		inWord = isUpper(c) || isLower(c) || unicode.IsTitle(c)
		return mapped
	}, s)
}

// TitleWords is the filter title of Jinja. It splits words differently from the method title.
func TitleWords(m *Meter, s string) string {
	m.Charge(len(s))
	refuseSeveral(s)
	refuseSigma(s)
	begins := true
	return strings.Map(func(c rune) rune {
		mapped := unicode.ToLower(c)
		if begins {
			mapped = unicode.ToUpper(c)
		}
		begins = IsSpace(c) || strings.ContainsRune("-({[<", c)
		return mapped
	}, s)
}

func isUpper(c rune) bool { return unicode.IsUpper(c) || unicode.Is(unicode.Other_Uppercase, c) }

func isLower(c rune) bool { return unicode.IsLower(c) || unicode.Is(unicode.Other_Lowercase, c) }

// IsUpperText is Python's s.isupper().
func IsUpperText(s string) bool { return cased(s, isUpper, isLower) }

// IsLowerText is Python's s.islower().
func IsLowerText(s string) bool { return cased(s, isLower, isUpper) }

func cased(s string, wanted, other func(rune) bool) bool {
	return strings.ContainsFunc(s, wanted) && !strings.ContainsFunc(
		s, func(c rune) bool { return other(c) || unicode.IsTitle(c) })
}
