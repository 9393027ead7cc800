package jinja

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
				fail("the upper case of %q is not supported", c)
			}
		}
	}
}

func refuseSigma(s string) {
	if strings.ContainsAny(s, "Σİ") {
		fail("the lower case of 'Σ' and 'İ' is not supported")
	}
}

func (r *renderer) lower(s string) string {
	r.charge(len(s))
	refuseSigma(s)
	return strings.Map(unicode.ToLower, s)
}

func (r *renderer) upper(s string) string {
	r.charge(len(s))
	refuseSeveral(s)
	return strings.Map(unicode.ToUpper, s)
}

func (r *renderer) capitalize(s string) string {
	r.charge(len(s))
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

func (r *renderer) title(s string) string {
	r.charge(len(s))
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

// titleWords is the filter title. It splits words differently from the method title.
func (r *renderer) titleWords(s string) string {
	r.charge(len(s))
	refuseSeveral(s)
	refuseSigma(s)
	begins := true
	return strings.Map(func(c rune) rune {
		mapped := unicode.ToLower(c)
		if begins {
			mapped = unicode.ToUpper(c)
		}
		begins = isSpace(c) || strings.ContainsRune("-({[<", c)
		return mapped
	}, s)
}

func isUpper(c rune) bool { return unicode.IsUpper(c) || unicode.Is(unicode.Other_Uppercase, c) }

func isLower(c rune) bool { return unicode.IsLower(c) || unicode.Is(unicode.Other_Lowercase, c) }
