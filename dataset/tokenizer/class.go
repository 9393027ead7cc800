package tokenizer

import (
	"iter"
	"slices"
	"unicode"
)

// A class is a set of runes, with one bit for each. Runes past its end are not in
// it.
type class []uint64

const classWords = (unicode.MaxRune + 1) / 64

func (c class) has(r rune) bool {
	word := int(r >> 6)
	return word < len(c) && c[word]>>(uint(r)&63)&1 != 0
}

// with is c and the runes from lo to hi.
func (c class) with(lo, hi rune) class {
	if missing := int(hi>>6) + 1 - len(c); missing > 0 {
		c = append(c, make(class, missing)...)
	}
	for r := lo; r <= hi; r++ {
		c[r>>6] |= 1 << (uint(r) & 63)
	}
	return c
}

// withTable is c and the runes of t.
func (c class) withTable(t *unicode.RangeTable) class {
	for r := range runes(t) {
		c = c.with(r, r)
	}
	return c
}

// runes are the runes of a table, ascending.
func runes(t *unicode.RangeTable) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for _, part := range t.R16 {
			for r := rune(part.Lo); r <= rune(part.Hi); r += rune(part.Stride) {
				if !yield(r) {
					return
				}
			}
		}
		for _, part := range t.R32 {
			for r := rune(part.Lo); r <= rune(part.Hi); r += rune(part.Stride) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// union is the runes of c and of other.
func (c class) union(other class) class {
	if len(c) < len(other) {
		c, other = slices.Clone(other), c
	}
	for i, word := range other {
		c[i] |= word
	}
	return c
}

// complement is every rune that is not in c.
func (c class) complement() class {
	all := make(class, classWords)
	copy(all, c)
	for i := range all {
		all[i] = ^all[i]
	}
	return all
}
