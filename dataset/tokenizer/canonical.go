package tokenizer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// canonical is the normalizer of a form. It differs from form in long runs of combining marks: package
// norm puts a grapheme joiner into them after every 30 marks, and Hugging Face does not.
func canonical(form norm.Form) func(string) string {
	return func(text string) string {
		switch {
		case form.QuickSpanString(text) == len(text):
			return text
		case !longRun(form, text):
			return form.String(text)
		}
		runes := decomposed(form, text)
		if form == norm.NFC || form == norm.NFKC {
			runes = composed(runes)
		}
		return string(runes)
	}
}

// longRun reports whether text may hold a run of marks that package norm breaks
// up. No rune decomposes to more than three marks.
func longRun(form norm.Form, text string) bool {
	run := 0
	for pos := 0; pos < len(text); {
		_, width := runeAt(text, pos)
		if text[pos] < utf8.RuneSelf || form.PropertiesString(text[pos:]).CCC() == 0 {
			run = -1
		}
		if run++; run > 8 {
			return true
		}
		pos += width
	}
	return false
}

// decomposed is a text without composed runes, by the algorithm of Unicode's annex 15, rune by rune.
func decomposed(form norm.Form, text string) (runes []rune) {
	apart := norm.NFD
	if form == norm.NFKC || form == norm.NFKD {
		apart = norm.NFKD
	}
	for _, r := range text {
		runes = append(runes, []rune(apart.String(string(r)))...)
	}
	order(runes)
	return runes
}

// composed composes runes in place, by the same algorithm.
func composed(runes []rune) []rune {
	out := runes[:0]
	starter, last := -1, 0 // the position of the last starter in out, and the class of the last rune
	for _, r := range runes {
		ccc := class15(r)
		if starter >= 0 && (last < ccc || last == 0) {
			if whole, ok := pair(out[starter], r); ok {
				out[starter] = whole
				continue
			}
		}
		if last = ccc; ccc == 0 {
			starter = len(out)
		}
		out = append(out, r)
	}
	return out
}

// order sorts each run of marks by class. Marks of one class keep their order.
func order(runes []rune) {
	for start := 0; start < len(runes); start++ {
		end := start
		for end < len(runes) && class15(runes[end]) != 0 {
			end++
		}
		slices.SortStableFunc(runes[start:end], func(a, b rune) int { return class15(a) - class15(b) })
		start = end
	}
}

// pair is the one rune that a starter and the rune after it compose to.
func pair(starter, r rune) (rune, bool) {
	two := string(starter) + string(r)
	one := norm.NFC.String(two)
	whole, width := utf8.DecodeRuneInString(one)
	return whole, width == len(one) && !strings.HasPrefix(two, one)
}

// class15 is the canonical combining class of r.
func class15(r rune) int { return int(norm.NFC.PropertiesString(string(r)).CCC()) }
